#include "operators/inverse_shift.hpp"

#include <nlohmann/json.hpp>

#include "operators/registry.hpp"

namespace opshap::operators {

const char* to_string(InverseShift shift) { return shift == InverseShift::fftshift ? "fftshift" : "ifftshift"; }

InverseShift read_inverse_shift(ConfigReader& reader, InverseShift absent) {
  const std::string found = reader.choice(inverse_shift_key, to_string(absent),
                                          {to_string(InverseShift::fftshift), to_string(InverseShift::ifftshift)});
  return found == to_string(InverseShift::fftshift) ? InverseShift::fftshift : InverseShift::ifftshift;
}

networks::NetworkConfig of_own_training(const networks::NetworkConfig& config) {
  if (ConfigReader(config).has(inverse_shift_key) || !architecture_of(config)->shifts_spectra()) return config;
  auto object = nlohmann::ordered_json::parse(config.json);
  object[inverse_shift_key] = to_string(InverseShift::ifftshift);
  return {object.dump()};
}

}  // namespace opshap::operators
