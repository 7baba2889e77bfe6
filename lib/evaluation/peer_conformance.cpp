#include "evaluation/peer_conformance.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/estimator.hpp"
#include "core/game.hpp"
#include "core/rng.hpp"
#include "estimators/registry.hpp"
#include "games/classic_games.hpp"
#include "games/table_game.hpp"
#include "games/unanimity.hpp"
#include "peers/conversation.hpp"
#include "peers/peer.hpp"

namespace opshap::evaluation {

namespace {

using Outcome = ConformanceCheck::Outcome;
using Values = std::vector<double>;

enum Stream : std::uint32_t { tables, weights, noise };

/// Roundings of a method and the condition number of its sample, as the tests of our own estimators allow.
constexpr double roundings_of_a_peer = 1e6;
/// Of the mean of many answers, in its standard errors. A right method is further off once in two million times.
constexpr double sigmas = 5;
constexpr int players = 6;
constexpr std::int64_t all = std::int64_t{1} << players;
constexpr std::int64_t half = 24;  ///< a budget between n + 1 and 2^n

Values random_values(Rng rng, std::size_t count) {
  Values values(count);
  for (double& value : values) value = static_cast<double>(rng.below(256)) / 64 - 2;  // sums of them are exact
  return values;
}

Values random_table(std::uint64_t seed, std::uint64_t item) {
  return random_values(Rng(seed, "peer conformance", tables, item), std::size_t{1} << players);
}

Values random_weights(std::uint64_t seed, int count) {
  return random_values(Rng(seed, "peer conformance", weights), static_cast<std::size_t>(count));
}

/// Products of the weights of all pairs in a coalition, and the weights themselves.
Values pairwise_table(std::uint64_t seed) {
  const Values weight = random_weights(seed, players);
  Values values(static_cast<std::size_t>(all));
  for (std::size_t set = 0; set < values.size(); ++set) {
    for (int i = 0; i < players; ++i) {
      if ((set >> i & 1) == 0) continue;
      values[set] += weight[static_cast<std::size_t>(i)];
      for (int j = 0; j < i; ++j) {
        if ((set >> j & 1) != 0)
          values[set] += weight[static_cast<std::size_t>(i)] * weight[static_cast<std::size_t>(j)];
      }
    }
  }
  return values;
}

double scale_of(const Values& values) {
  double largest = 1;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// "" when the values are those, up to rounding; else the worst one.
std::string mismatch(const Values& wanted, const Values& found, double scale) {
  const double allowed = roundings_of_a_peer * std::numeric_limits<double>::epsilon() * scale;
  std::size_t worst = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::abs(wanted[i] - found[i]) > std::abs(wanted[worst] - found[worst])) worst = i;
  }
  if (std::abs(wanted[worst] - found[worst]) <= allowed) return "";
  return message("player ", worst, ": ", found[worst], " in place of ", wanted[worst], ", off by ",
                 found[worst] - wanted[worst]);
}

class Conformance {
 public:
  Conformance(const peers::Plugin& plugin, std::uint64_t seed) : plugin_(plugin), seed_(seed), peer_(plugin) {}

  std::vector<ConformanceCheck> checks() {
    check("greets as plugin.toml says", [this] {
      peer_.start();
      return std::string();
    });
    if (checks_.back().outcome == Outcome::fail) return std::move(checks_);
    sizes();
    budgets();
    seeds();
    promises();
    troubles();
    return std::move(checks_);
  }

 private:
  /// A law holds when it says nothing.
  void check(std::string law, const std::function<std::string()>& why_not) {
    ConformanceCheck done{.law = std::move(law), .outcome = Outcome::pass, .detail = {}, .claim = {}};
    try {
      done.detail = why_not();
    } catch (const peers::Failure& failure) {
      done.detail = failure.what();
    } catch (const InvalidArgument& error) {  // gradients that a game of values alone does not have
      done.detail = error.what();
    }
    if (!done.detail.empty()) {
      done.outcome = Outcome::fail;
      peer_.forgive();
    }
    checks_.push_back(std::move(done));
  }

  void promise(const char* claim, bool claimed, const std::string& law, const std::function<std::string()>& why_not) {
    if (claimed) {
      check(law, why_not);
    } else {
      checks_.push_back({.law = law, .outcome = Outcome::not_claimed, .detail = {}, .claim = {}});
    }
    checks_.back().claim = claim;
  }

  peers::Answer ask(const Game& game, std::int64_t budget, std::uint64_t seed = 1) {
    return ask(peer_, game, budget, seed);
  }

  static peers::Answer ask(peers::Peer& peer, const Game& game, std::int64_t budget, std::uint64_t seed) {
    CountedGame counted(game, {budget});
    return peer.run({.players = game.players(),
                     .budget = budget,
                     .seed = seed << 32,
                     .empty = counted.empty(),
                     .grand = counted.grand()},
                    {.values = [&counted](const Coalitions& asked) { return counted.values(asked); },
                     .gradients =
                         [&counted](std::span<const double> t) {
                           return counted.extension_gradients("integrated_gradients", on_diagonal(t, counted.players()));
                         }});
  }

  Values values_of(const Values& table, std::int64_t budget = half, std::uint64_t seed = 1) {
    int of_players = 0;
    while (std::size_t{1} << of_players < table.size()) ++of_players;
    return ask(*games::table_game(of_players, table), budget, seed).values;
  }

  static Values truth_of(const Game& game) { return attribute(estimators::find("exact"), game, {}, 0).values; }

  void sizes() {
    for (const int n : {1, 2, 1024}) {
      check(message("answers for ", n, n == 1 ? " player" : " players"), [this, n] {
        const auto game = games::additive_game(random_weights(seed_, n));
        ask(*game, n < 10 ? std::int64_t{1} << n : 4 * n);
        return std::string();
      });
    }
  }

  void budgets() {
    check("asks for no more than its budget", [this] {
      const auto game = games::table_game(players, random_table(seed_, 0));
      for (std::int64_t budget = players + 1; budget <= all; budget += 3) {
        const peers::Answer answer = ask_or_refuse(*game, budget);
        if (answer.refused > 0) return message(answer.refused, " requests were refused at a budget of ", budget);
      }
      return std::string();
    });
    check("answers or refuses a budget of 2", [this] {
      ask_or_refuse(*games::table_game(players, random_table(seed_, 0)), 2);
      return std::string();
    });
  }

  /// A peer that refuses the budget, or says that it fails on it, has answered.
  peers::Answer ask_or_refuse(const Game& game, std::int64_t budget) {
    try {
      return ask(game, budget);
    } catch (const peers::Failure& failure) {
      if (failure.ending() != peers::Ending::fail && failure.ending() != peers::Ending::refused) throw;
      return {};
    }
  }

  void seeds() {
    const auto game = games::table_game(players, random_table(seed_, 1));
    check("gives the same bytes for the same seed, in whatever process and order", [&] {
      const Values first = ask(*game, half, 5).values;
      ask(*game, half, 6);
      if (ask(*game, half, 5).values != first) return std::string("another task in between changes the answer");
      peers::Peer other(plugin_);
      return std::string(ask(other, *game, half, 5).values == first ? "" : "another process gives another answer");
    });
    promise("stochastic = true", plugin_.stochastic, "gives other values for another seed", [&] {
      const Values first = ask(*game, half, 1).values;
      for (std::uint64_t seed = 2; seed <= 8; ++seed) {
        if (ask(*game, half, seed).values != first) return std::string();
      }
      return std::string("eight seeds give the same values; if that is meant, claim stochastic = false");
    });
    promise("stochastic = false", !plugin_.stochastic, "does not depend on the seed", [&] {
      return std::string(ask(*game, half, 1).values == ask(*game, half, 2).values ? "" : "seeds 1 and 2 differ");
    });
  }

  void promises() {
    const Guarantees& claims = plugin_.claims;
    const Values table = random_table(seed_, 2), other = random_table(seed_, 3);
    const double scale = players * scale_of(table);
    promise("efficient = true", claims.efficiency == Efficiency::exact, "values add up to v(N) - v(empty)", [&] {
      for (const std::int64_t budget : {half, all}) {
        const Values found = values_of(table, budget);
        const double sum = std::accumulate(found.begin(), found.end(), 0.0), gain = table.back() - table.front();
        if (!mismatch({gain}, {sum}, scale).empty())
          return message("they add up to ", sum, " in place of ", gain, ", off by ", sum - gain, ", at a budget of ",
                         budget);
      }
      return std::string();
    });
    promise("exact_on_additive = true", claims.exact_on_additive, "is exact on additive games", [&] {
      const Values weight = random_weights(seed_, players);
      return mismatch(weight, ask(*games::additive_game(weight, 0.5), half).values, scale_of(weight) * players);
    });
    promise("exact_on_two_additive = true", claims.exact_on_two_additive, "is exact where only pairs interact", [&] {
      const Values pairs = pairwise_table(seed_);
      return mismatch(truth_of(*games::table_game(players, pairs)), values_of(pairs, all - 1),
                      scale_of(pairs) * players);
    });
    promise("zero_for_null_player = true", claims.zero_for_null_player, "gives a null player exactly 0", [&] {
      constexpr std::size_t null = 2;
      Values without = table;
      for (std::size_t set = 0; set < without.size(); ++set) without[set] = without[set & ~(std::size_t{1} << null)];
      const double found = values_of(without)[null];
      return found == 0 ? "" : message("it gets ", found);
    });
    promise("zero_on_even = true", claims.zero_on_even, "gives 0 where v(S) = v(N - S) for all S", [&] {
      Values even = table;
      for (std::size_t set = 0; set < even.size(); ++set) even[set] = even[std::min(set, even.size() - 1 - set)];
      return mismatch(Values(players, 0.0), values_of(even), scale);
    });
    promise("same_on_dual = true", claims.same_on_dual, "gives a game and its dual the same values", [&] {
      Values dual = table;
      for (std::size_t set = 0; set < dual.size(); ++set) dual[set] = table.back() - table[table.size() - 1 - set];
      return mismatch(values_of(table), values_of(dual), 2 * scale);
    });
    promise("linear = true", claims.linear, "is linear in the game for the same seed", [&] {
      Values sum = table;
      for (std::size_t set = 0; set < sum.size(); ++set) sum[set] += 2 * other[set];
      Values wanted = values_of(table);
      const Values more = values_of(other);
      for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] += 2 * more[i];
      return mismatch(wanted, values_of(sum), 3 * scale);
    });
    const auto at_full_budget = [&] {
      const Values weight = random_weights(seed_, players);
      const std::pair<const char*, std::unique_ptr<Game>> known[] = {
          {"additive", games::additive_game(weight)},
          {"the AND of two players", games::unanimity_game(2, 1)},
          {"a glove market", games::glove_market({2, 3})},
          {"a symmetric game", games::unanimity_game(players, 1)},
          {"a random table", games::table_game(players, table)}};
      for (const auto& [name, game] : known) {
        const Values truth = truth_of(*game), found = ask(*game, std::int64_t{1} << game->players()).values;
        const std::string why = mismatch(truth, found, players * scale_of(truth) + scale);
        if (!why.empty()) return message(name, ", ", why);
      }
      return std::string();
    };
    promise("exact_at_full_budget = true", claims.exact_at_full_budget,
            "is exact when the budget allows all coalitions", at_full_budget);
    promise("unbiased = true", claims.bias == Bias::none, "has the Shapley value as its mean",
            [&] { return biased(replicates(table)); });
    const bool has_errors =
        checks_.front().outcome == Outcome::pass && replicates(table).answered && replicates(table).with_errors > 0;
    promise("values with standard_errors", has_errors, "has the standard errors that its values have",
            [&] { return dishonest(replicates(table)); });
  }

  /// What many seeds answer to one game.
  struct Replicates {
    static constexpr int runs = 200;
    Values sum, squares;   ///< of the errors of the values, [players]
    double claimed = 0;    ///< mean over the runs of Σ standard errors²
    int with_errors = 0;   ///< runs that have standard errors
    std::string bad;       ///< a standard error that is none
    bool answered = true;  ///< no run failed
    double rounding = 0;

    /// Σ variances of the values, as the runs show them.
    double variance() const {
      double all = 0;
      for (std::size_t i = 0; i < sum.size(); ++i) {
        const double mean = sum[i] / runs;
        all += std::max(0.0, squares[i] / runs - mean * mean) * runs / (runs - 1);
      }
      return all;
    }
  };

  const Replicates& replicates(const Values& table) {
    if (replicates_) return *replicates_;
    Replicates found{.sum = Values(players, 0.0), .squares = Values(players, 0.0)};
    const auto game = games::table_game(players, table);
    const Values truth = truth_of(*game);
    found.rounding = roundings_of_a_peer * std::numeric_limits<double>::epsilon() * scale_of(table);
    for (int run = 0; run < Replicates::runs && found.answered; ++run) {
      try {
        const peers::Answer answer = ask(*game, half, 100 + static_cast<std::uint64_t>(run));
        for (std::size_t i = 0; i < answer.values.size(); ++i) {
          found.sum[i] += answer.values[i] - truth[i];
          found.squares[i] += std::pow(answer.values[i] - truth[i], 2);
        }
        if (!answer.standard_errors) continue;
        ++found.with_errors;
        for (const double error : *answer.standard_errors) {
          if (!(error >= 0) && found.bad.empty()) found.bad = message("a standard error is ", error);
          found.claimed += error * error / Replicates::runs;
        }
      } catch (const peers::Failure& failure) {
        found.answered = false;
        found.bad = failure.what();
        peer_.forgive();
      }
    }
    replicates_ = std::move(found);
    return *replicates_;
  }

  static std::string biased(const Replicates& found) {
    if (!found.answered) return found.bad;
    for (std::size_t i = 0; i < found.sum.size(); ++i) {
      const double mean = found.sum[i] / Replicates::runs;
      const double error =
          std::sqrt(std::max(0.0, found.squares[i] / Replicates::runs - mean * mean) / (Replicates::runs - 1));
      if (std::abs(mean) > sigmas * error + found.rounding)
        return message("player ", i, " is off by ", mean, ", ", std::abs(mean) / error, " standard errors of ",
                       Replicates::runs, " runs");
    }
    return "";
  }

  /// The root of the mean of the squared standard errors beside the spread of the values. Two hundred runs know that
  /// spread to a twentieth; a factor of two is asked for, since a standard error of few samples is rough itself.
  static std::string dishonest(const Replicates& found) {
    if (!found.bad.empty()) return found.bad;
    if (found.with_errors < Replicates::runs)
      return message(found.with_errors, " of ", Replicates::runs, " answers have standard errors");
    const double spread = std::sqrt(found.variance()), claimed = std::sqrt(found.claimed);
    const double least = found.rounding * std::sqrt(static_cast<double>(players));
    if (claimed <= 2 * spread + least && spread <= 2 * claimed + least) return "";
    return message("they are ", claimed, " together, where the values of ", Replicates::runs, " seeds spread by ",
                   spread);
  }

  void troubles() {
    if (plugin_.needs_only_values()) {
      check("survives values that are not numbers", [this] {
        return odd_values([](std::size_t count) { return Values(count, std::numeric_limits<double>::quiet_NaN()); });
      });
      check("does not hang on answers of the wrong size", [this] {
        for (const std::size_t more : {1, 1000}) {
          const std::string why = odd_values([more](std::size_t count) { return Values(count + more, 1.0); });
          if (!why.empty()) return why;
        }
        return odd_values([](std::size_t) { return Values(); });
      });
    }
    check("does not hang on bytes that are no frames", [this] { return garbage(); });
    check("ends at SIGTERM", [this] {
      const peers::Clock::time_point start = peers::Clock::now();
      peers::Link conversation(plugin_);
      const auto patience = patience_after(start);
      conversation.process().signal(SIGTERM);
      const bool ended = conversation.process().ends_before(peers::after(patience.count()));
      return std::string(ended ? "" : "it still runs");
    });
  }

  /// Whatever a peer makes of such values, it ends in time and the next task succeeds.
  std::string odd_values(const std::function<Values(std::size_t)>& values) {
    peers::Peer peer(plugin_);
    try {
      peer.run({.players = players, .budget = half, .seed = 1, .empty = 0, .grand = 1},
               {.values = [&values](const Coalitions& asked) { return values(asked.size()); }});
    } catch (const peers::Failure& failure) {
      if (failure.ending() == peers::Ending::timeout) return failure.what();
    }
    ask(peer, *games::table_game(players, random_table(seed_, 4)), half, 1);
    return "";
  }

  std::string garbage() {
    Rng rng(seed_, "peer conformance", noise);
    std::string random;
    for (int i = 0; i < 1000; ++i) random += static_cast<char>(rng.below(256));
    for (const std::string& bytes :
         {random + "\n", std::string("[]\n"), std::string("{\"type\":\"task\"}\n"),
          std::string("{\"type\":\"task\",\"id\":1,\"n\":-3,\"budget\":\"x\",\"nbytes\":1000000000000}\n"),
          std::string("{\"type\":\"values\",\"id\":1,\"nbytes\":80}\n12"), std::string("{\"type\":")}) {
      const peers::Clock::time_point start = peers::Clock::now();
      peers::Link conversation(plugin_);
      const auto patience = patience_after(start);
      conversation.send(bytes);
      conversation.process().end(patience);
      const std::string end = conversation.process().how_it_ended();
      if (end.starts_with("signal"))
        return message(end, " after ", bytes.starts_with(random) ? "random bytes" : bytes.substr(0, bytes.find('\n')));
    }
    return "";
  }

  /// How long a process may take to end. One that loads much when it starts frees much, so it gets twice that time.
  std::chrono::duration<double> patience_after(peers::Clock::time_point start) const {
    const std::chrono::duration<double> took = peers::Clock::now() - start;
    return std::max(std::chrono::duration<double>(plugin_.limits.grace_seconds), 2 * took);
  }

  const peers::Plugin& plugin_;
  std::uint64_t seed_;
  peers::Peer peer_;
  std::optional<Replicates> replicates_;
  std::vector<ConformanceCheck> checks_;
};

}  // namespace

std::string_view to_string(Outcome outcome) {
  return outcome == Outcome::pass ? "pass" : outcome == Outcome::fail ? "fail" : "not claimed";
}

std::vector<ConformanceCheck> peer_conformance(const peers::Plugin& plugin, std::uint64_t seed) {
  return Conformance(plugin, seed).checks();
}

}  // namespace opshap::evaluation
