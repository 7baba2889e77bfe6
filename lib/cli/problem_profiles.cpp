#include "cli/problem_profiles.hpp"

#include <utility>

#include "data/verify.hpp"
#include "pde/registry.hpp"

namespace opshap::cli {

namespace {

std::vector<std::string> problems_of_the_paper() {
  std::vector<std::string> names;
  for (const auto& problem : pde::all()) {
    if (problem->in_paper()) names.emplace_back(problem->name());
  }
  return names;
}

}  // namespace

std::vector<Profile> load_profiles(const std::string& name_or_file, const std::filesystem::path& overrides,
                                   const std::vector<std::string>& pdes) {
  std::vector<Profile> profiles;
  for (const std::string& pde : pdes == std::vector<std::string>{"all"} ? problems_of_the_paper() : pdes)
    profiles.push_back(load_profile(name_or_file, overrides, pde));
  return profiles;
}

data::DatasetRequest data_request(const Profile& profile, std::uint64_t seed) {
  return {.pde = profile.data.pde,
          .parameters = profile.data.parameters,
          .layout = {.samples = profile.data.samples(),
                     .train = profile.data.train,
                     .validation = profile.data.validation,
                     .test = profile.data.test,
                     .resolutions = profile.data.scattered > 0 ? std::vector<Resolution>{} : profile.resolutions},
          .seed = seed};
}

data::Dataset at_points_of(const Profile& profile, data::Dataset data) {
  return profile.data.scattered > 0 ? data::scattered(std::move(data), profile.data.scattered) : std::move(data);
}

}  // namespace opshap::cli
