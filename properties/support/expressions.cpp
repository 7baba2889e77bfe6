#include "support/expressions.hpp"

#include <map>
#include <regex>

namespace opshap {
namespace {

const std::regex& read(const std::string& expression) {
  thread_local std::map<std::string, std::regex> known;
  const auto found = known.find(expression);
  return found != known.end() ? found->second : known.emplace(expression, std::regex(expression)).first->second;
}

}  // namespace

bool has_match(const std::string& text, const std::string& expression) {
  return std::regex_search(text, read(expression));
}

std::vector<std::string> found_by(const std::string& expression, const std::string& text, int group) {
  return {std::sregex_token_iterator(text.begin(), text.end(), read(expression), group), std::sregex_token_iterator()};
}

std::string substituted(const std::string& text, const std::string& expression, const std::string& by) {
  return std::regex_replace(text, read(expression), by);
}

}  // namespace opshap
