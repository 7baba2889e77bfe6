#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/explainer.hpp"
#include "core/operator.hpp"

namespace opshap::explainers {

/// OperatorSHAP: a trained neural operator that maps an input field to its attribution density, at any resolution, in
/// one forward pass. `device` is "cpu" or "cuda:0". Throws DataError for a file that is missing, corrupt, an operator's,
/// or of a network with more than one output channel, InvalidArgument for one that takes fields of another dimension
/// or with other channels than `explained` and for a base that `explained` cannot give, EnvironmentError when the
/// device is not there.
std::unique_ptr<Explainer> load_explainer(const std::filesystem::path& weights, const Operator& explained,
                                          const std::string& device = "cpu");

/// The fields with further channels, one for each axis: the coordinate of the query of each field, everywhere the same.
/// That is what explainers of any query are given. `points` [B].
FieldBatch with_query(const FieldBatch& inputs, const std::vector<std::int64_t>& points);

}  // namespace opshap::explainers
