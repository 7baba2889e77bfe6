#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/strict_json.hpp"
#include "networks/recipe.hpp"

namespace opshap::operators {

/// What any architecture may ask for at most.
inline constexpr int most_modes = 4096, most_width = 4096, most_layers = 256, most_channels = 1024;
/// The words for them of any architecture that has them.
inline const std::vector<std::string> padding_modes = {"symmetric", "one-sided"}, embeddings = {"grid", "none"};

/// Reads the JSON object of a network's configuration, key by key.
///
/// Each key is asked for by the architecture that knows it, together with the value that an absent key means. finish()
/// then refuses the keys that nobody asked for. Messages name key and value. What does not fit throws DataError in the
/// CONFIG of a file, and InvalidArgument in the settings of a profile.
class ConfigReader {
 public:
  /// Refuses a text that is no JSON object, or that is nested deeper than a configuration can be.
  explicit ConfigReader(const networks::NetworkConfig& config);
  explicit ConfigReader(const networks::NetworkSettings& settings);

  struct Range {
    int least = 1;
    int most = 1;
  };
  int whole(const std::string& key, int absent, Range range);
  /// One number. null means 0.
  double fraction(const std::string& key, double absent, double most);
  /// One for all axes, or a list with one for each: one or two of them.
  std::vector<double> fractions(const std::string& key, const std::vector<double>& absent, double most);
  std::string text(const std::string& key, const std::string& absent);
  std::string choice(const std::string& key, const std::string& absent, const std::vector<std::string>& choices);
  /// null is "none".
  std::string choice_or_none(const std::string& key, const std::string& absent,
                             const std::vector<std::string>& choices);
  bool truth(const std::string& key, bool absent);
  /// One truth value for all layers, or a list with one for each.
  std::vector<bool> truth_per_layer(const std::string& key, bool absent, int layers);
  /// The JSON text of an object, or of any other value; `absent` where there is none.
  std::string json(const std::string& key, const std::string& absent);
  /// One number, or a list with one for each axis: one or two of them.
  std::vector<int> per_axis(const std::string& key, const std::vector<int>& absent, Range range);
  bool has(const std::string& key) const { return object_->contains(key); }
  /// Refuses an object without one of these keys.
  void require_keys(const std::vector<const char*>& keys) const {
    for (const char* key : keys)
      if (!has(key)) reject(key, "is missing");
  }

  void finish() const { reader_.finish(); }
  [[noreturn]] void reject(const std::string& what, const std::string& why) const { reader_.refuse(what, why); }

 private:
  using Json = StrictObject::Json;
  ConfigReader(const std::string& json, StrictObject::Voice voice);

  std::shared_ptr<const Json> object_;
  StrictObject reader_;
};

/// How a spectral convolution of two axes shifts the spectrum back before the inverse transform.
///
/// Weights are stored by frequency with 0 in the middle of the first axis, so the spectrum is shifted before it is
/// mixed, and back afterwards. neuraloperator up to 2.0.0 shifts it back by the same function, fftshift. Where the
/// number of points on the first axis is odd, that is one place too far: what was computed for the frequency k comes
/// out at k − 1, in every layer. Weights that were trained so need it. Later versions have ifftshift there, the
/// inverse. The two agree on even numbers of points, and in one dimension there is nothing to shift.
enum class InverseShift { fftshift, ifftshift };

/// The key of a CONFIG that says it.
inline constexpr const char* inverse_shift_key = "inverse_shift";

/// "fftshift" or "ifftshift".
const char* to_string(InverseShift shift);

/// The value of the key. Throws as ConfigReader::choice.
InverseShift read_inverse_shift(ConfigReader& reader, InverseShift absent);

/// The sizes that CONFIGs of Fourier neural operators have in common.
template <typename Config>
void read_sizes(ConfigReader& reader, Config& config, int least_width) {
  config.n_modes = reader.per_axis("n_modes", config.n_modes, {.least = 1, .most = most_modes});
  config.hidden_channels =
      reader.whole("hidden_channels", config.hidden_channels, {.least = least_width, .most = most_width});
  config.n_layers = reader.whole("n_layers", config.n_layers, {.least = 1, .most = most_layers});
  config.in_channels = reader.whole("in_channels", config.in_channels, {.least = 1, .most = most_channels});
  config.out_channels = reader.whole("out_channels", config.out_channels, {.least = 1, .most = most_channels});
}

/// The same in the settings of a profile, for these spaces and so many axes of the network. One number of modes is for
/// all axes.
template <typename Config>
void fit_sizes(ConfigReader& reader, Config& config, networks::NetworkSpaces spaces, int axes, int least_width) {
  config.n_modes = reader.per_axis("modes", {}, {.least = 1, .most = most_modes});
  if (config.n_modes.size() == 1) config.n_modes.assign(static_cast<std::size_t>(axes), config.n_modes.front());
  config.hidden_channels = reader.whole("width", 0, {.least = least_width, .most = most_width});
  config.n_layers = reader.whole("layers", 0, {.least = 1, .most = most_layers});
  config.in_channels = spaces.in_channels;
  config.out_channels = spaces.out_channels;
  config.inverse_shift = InverseShift::ifftshift;
}

/// The beginning of such a CONFIG.
template <typename Config>
nlohmann::ordered_json sizes_json(const char* model, const Config& config) {
  return {{"model", model},
          {"n_modes", config.n_modes},
          {"hidden_channels", config.hidden_channels},
          {"n_layers", config.n_layers},
          {"in_channels", config.in_channels},
          {"out_channels", config.out_channels}};
}

/// The CONFIG of a network that was trained here, where only ifftshift has ever been. It is said where the CONFIG does
/// not say it and its architecture has such a shift.
networks::NetworkConfig of_own_training(const networks::NetworkConfig& config);

}  // namespace opshap::operators
