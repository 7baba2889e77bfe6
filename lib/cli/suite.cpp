#include "cli/suite.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "cli/doctor.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "core/strict_json.hpp"
#include "core/toml_text.hpp"
#include "evaluation/contest.hpp"
#include "games/registry.hpp"
#include "pde/registry.hpp"

namespace opshap::cli {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// The text of a suite, its name, and the folder where its operators may lie.
struct Source {
  std::string name, text;
  fs::path folder = {};
};

Source source_of(const std::string& name_or_file) {
  if (name_or_file.ends_with(".toml")) {
    const fs::path path = name_or_file;
    return {.name = path.stem().string(), .text = read_file(path), .folder = path.parent_path()};
  }
  const EmbeddedSettings* const suite = embedded(embedded_suites(), name_or_file);
  require(suite != nullptr, "suite: name=", name_or_file, " (not built in).",
          suggestion(name_or_file, names_of(embedded_suites())), " A file of your own ends in .toml.");
  return {.name = suite->name, .text = suite->text};
}

/// The settings of a suite, and what messages about them say.
struct Settled {
  Json object;
  StrictObject::Voice voice;
};

Settled parse_suite(const std::string& text, const std::string& name) {
  std::map<std::string, int, std::less<>> lines;
  Settled settled{parse_toml(text, "suite", name, lines),
                  {.who = "suite: ", .missing = "Add it; `opshap list suites` names complete examples."}};
  for (const auto& [key, line] : lines) settled.voice.places.emplace(key, message("line ", line));
  return settled;
}

fs::path find_operator(const fs::path& file, const Source& source) {
  std::vector<fs::path> places = {source.folder / file};
  if (file.is_relative()) {
    const fs::path program = program_folder();
    for (const fs::path& share : {program / "share", program.parent_path() / "share"})
      places.push_back(share / "opshap" / "operators" / file);
  }
  const auto found = std::ranges::find_if(places, is_there);
  require(found != places.end(), "suite: operator=", file.string(), " (is not beside the suite, and not in ",
          places.back().parent_path().string(),
          "). Give trained weights with --operator, or install opshap with its operators.");
  return *found;
}

SuiteOperator read_operator(StrictObject& entry, const Source& source, const fs::path& given) {
  const fs::path file = entry.get<std::string>("operator");
  SuiteOperator op{.file = given.empty() ? find_operator(file, source) : given,
                   .problem = entry.get<std::string>("problem")};
  pde::find(op.problem);
  if (entry.has("sample")) op.sample = static_cast<std::uint64_t>(entry.whole<std::int64_t>("sample", 0));
  return op;
}

/// The games of one entry, which differ in their players.
std::vector<SuiteGame> read_entry(StrictObject entry, const std::string& usual_budgets, const Source& source,
                                  const fs::path& given) {
  const bool of_operator = entry.has("operator");
  SuiteGame game;
  if (of_operator) {
    game.name = entry.get<std::string>("name");
    game.op = read_operator(entry, source, given);
  } else {
    game.family = entry.get<std::string>("family");
    require(games::find(game.family).random != nullptr, "suite: family=", game.family,
            " (is made from an operator). Write operator and problem instead.");
    game.name = entry.has("name") ? entry.get<std::string>("name") : game.family;
    if (entry.has("seed")) game.seed = static_cast<std::uint64_t>(entry.whole<std::int64_t>("seed", 0));
  }
  const auto fits = [](unsigned char letter) { return std::isalnum(letter) || letter == '_' || letter == '-'; };
  require(!game.name.empty() && std::ranges::all_of(game.name, fits), "suite: name=", game.name,
          " (names a folder). Use letters, digits, _ and -.");
  game.budgets = entry.has("budgets") ? entry.get<std::string>("budgets") : usual_budgets;
  std::vector<SuiteGame> games;
  for (const std::int64_t players : entry.list<std::int64_t>("players")) {
    require(players >= 1 && players <= Coalitions::max_players, "suite: ", game.name, ", players=", players,
            " (needs 1..", Coalitions::max_players, "). Give a number in that range.");
    games.push_back(game);
    games.back().players = static_cast<int>(players);
    evaluation::parse_budgets(game.budgets, games.back().players);
  }
  entry.finish();
  require(!games.empty(), "suite: ", game.name, ", players=[] (no game). Give at least one number.");
  return games;
}

evaluation::ReferenceSettings read_reference(StrictObject section) {
  evaluation::ReferenceSettings settings;
  settings.relative_error = section.positive("relative_error");
  settings.max_evaluations = section.whole<std::int64_t>("max_evaluations", 2);
  if (section.has("exact_players")) settings.exact_players = section.whole("exact_players");
  section.finish();
  return settings;
}

}  // namespace

std::string SuiteGame::folder() const { return message(name, "_n", players); }

bool Suite::has_operators() const {
  return std::ranges::any_of(games, [](const SuiteGame& game) { return game.op.has_value(); });
}

Json Suite::settings() const {
  Json entries = Json::array();
  for (const SuiteGame& game : games) {
    entries.push_back({{"name", game.name}, {"players", game.players}, {"budgets", game.budgets}});
    if (game.op) {
      entries.back().update(Json{
          {"operator", game.op->file.filename().string()}, {"problem", game.op->problem}, {"sample", game.op->sample}});
    } else {
      entries.back().update(Json{{"family", game.family}, {"seed", game.seed}});
    }
  }
  return {{"suite", name},
          {"repeats", repeats},
          {"reference",
           {{"relative_error", reference.relative_error},
            {"max_evaluations", reference.max_evaluations},
            {"exact_players", reference.exact_players}}},
          {"games", entries}};
}

Suite load_suite(const std::string& name_or_file, const fs::path& op) {
  const Source source = source_of(name_or_file);
  const Settled settled = parse_suite(source.text, source.name);
  StrictObject root(settled.object, settled.voice);
  Suite suite{.name = source.name, .summary = root.get<std::string>("summary"), .repeats = root.whole("repeats")};
  const std::string budgets = root.get<std::string>("budgets");
  if (root.has("reference")) suite.reference = read_reference(root.object("reference"));
  std::set<std::string> folders;
  for (StrictObject& entry : root.objects("games")) {
    for (SuiteGame& game : read_entry(std::move(entry), budgets, source, op)) {
      require(folders.insert(game.folder()).second, "suite: ", game.name, ", players=", game.players,
              " (is there twice). Give one of the two another name.");
      suite.games.push_back(std::move(game));
    }
  }
  root.finish();
  require(!suite.games.empty(), "suite: games=0 (nothing to compare on). Add [[games]].");
  require(op.empty() || suite.has_operators(), "suite: --operator=", op.string(),
          " (no game of this suite is an operator's). Leave it out.");
  return suite;
}

std::string suite_summary(const EmbeddedSettings& suite) {
  const Settled settled = parse_suite(suite.text, suite.name);
  return StrictObject(settled.object, settled.voice).get<std::string>("summary");
}

}  // namespace opshap::cli
