#pragma once

#include <string>

#include "data/safetensors.hpp"

namespace opshap::operators {

/// Throws InvalidArgument where the name is one of neuraloperator's models that are not here, in any case of letters:
/// the message says what works instead.
void refuse_foreign_name(const std::string& name);

/// Throws DataError where the content of a weight file is a state_dict of such a model, by the names and sizes of its
/// tensors. `who` names the file.
void refuse_foreign_tensors(const data::Safetensors& content, const std::string& who);

}  // namespace opshap::operators
