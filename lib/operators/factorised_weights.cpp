#include "operators/factorised_weights.hpp"

#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

namespace {

using torch::Tensor;

/// The factors of one weight.
struct Factors {
  Tensor core, scales;  ///< of Tucker and of CP; not defined where there is none
  std::map<int, Tensor> of_axis;
};

/// The numbers as complex ones.
Tensor complex_values(const data::StoredTensor& stored) {
  const bool pairs = stored.dtype == "C64";
  std::vector<std::int64_t> shape = stored.shape;
  if (pairs) shape.push_back(2);
  Tensor values = torch::empty(shape, stored.dtype == "F64" ? torch::kFloat64 : torch::kFloat32);
  std::memcpy(values.data_ptr(), stored.bytes.data(), stored.bytes.size());
  return torch::view_as_complex(values.to(torch::kFloat64).contiguous());
}

data::StoredTensor stored_pairs(const Tensor& tensor) {
  const Tensor pairs = torch::view_as_real(tensor).to(torch::kFloat32).contiguous();
  data::StoredTensor stored{.shape = pairs.sizes().vec(), .dtype = "F32", .bytes = {}};
  stored.bytes.resize(pairs.nbytes());
  std::memcpy(stored.bytes.data(), pairs.data_ptr(), pairs.nbytes());
  return stored;
}

/// Σ_r tensor[.., r, ..]·factor[i, r] at this axis.
Tensor mode_product(const Tensor& tensor, const Tensor& factor, std::int64_t axis) {
  return torch::tensordot(tensor, factor, {axis}, {1}).movedim(-1, axis);
}

/// Tucker: the core in the bases that the factors [size, rank] are. CP: Σ_r scale_r · Π factor[i, r]. Tensor train: the
/// matrix product of the factors [rank, size, next rank].
Tensor expanded(const Factors& factors) {
  Tensor whole;
  if (factors.core.defined()) {
    whole = factors.core;
    for (const auto& [axis, factor] : factors.of_axis) whole = mode_product(whole, factor, axis);
    return whole;
  }
  if (factors.scales.defined()) {
    whole = factors.scales.view({1, -1});
    for (const auto& [axis, factor] : factors.of_axis)
      whole = (whole.unsqueeze(1) * factor.unsqueeze(0)).reshape({-1, factor.size(1)});
    whole = whole.sum(1);
  } else {
    whole = torch::ones({1, 1}, torch::kComplexDouble);
    for (const auto& [axis, factor] : factors.of_axis)
      whole = torch::mm(whole, factor.reshape({factor.size(0), -1})).reshape({-1, factor.size(2)});
  }
  std::vector<std::int64_t> shape;
  for (const auto& [axis, factor] : factors.of_axis) shape.push_back(factor.size(factors.scales.defined() ? 0 : 1));
  return whole.reshape(shape);
}

}  // namespace

void expand_factors(data::Safetensors& content, const std::string& who) {
  const std::string of_axis = ".factors.factor_";
  std::map<std::string, Factors> weights;
  for (const auto& [name, stored] : content.tensors)
    if (const auto at = name.find(of_axis); at != std::string::npos) weights[name.substr(0, at)];
  for (auto& [name, factors] : weights) {
    const auto take = [&](const std::string& part) {
      const auto node = content.tensors.extract(name + part);
      return node.empty() ? Tensor() : complex_values(node.mapped());
    };
    try {
      factors.core = take(".core");
      factors.scales = take(".weights");
      for (int axis = 0; content.tensors.contains(name + of_axis + std::to_string(axis)); ++axis)
        factors.of_axis[axis] = take(of_axis + std::to_string(axis));
      content.tensors[name + ".tensor"] = stored_pairs(expanded(factors));
    } catch (const std::exception&) {  // LibTorch's own, of several types
      throw DataError(message("weights: ", name, " (", who,
                              " has factors there that do not fit each other). Export the model again."));
    }
  }
}

}  // namespace opshap::operators
