#include "games/games_together.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "games/cell_mask_game.hpp"

namespace opshap::games {

std::unique_ptr<CoalitionEngine> engine_together(const Operator& op, std::span<const Scenario> scenarios) {
  if (scenarios.empty()) return nullptr;
  const MaskedOperator all(op, scenarios);
  const Scenario& first = scenarios.front();
  return op.coalition_engine(all.input(), all.baseline(), first.partition, first.readout);
}

namespace {

/// Puts the input in place of the baseline at the points of a coalition's players.
void show(const Partition& partition, std::span<const std::uint64_t> coalition, const FieldBatch& input,
          std::span<double> field) {
  const std::size_t points = partition.player_of.size();
  for (std::size_t point = 0; point < points; ++point)
    if (contains(coalition, partition.player_of[point]))
      for (std::size_t at = point; at < field.size(); at += points) field[at] = input.values[at];
}

}  // namespace

std::vector<double> values_together(const Operator& op, std::span<const Scenario> scenarios,
                                    const Coalitions& coalitions) {
  if (scenarios.empty()) return {};
  const int players = scenarios.front().partition.players;
  require(coalitions.size() % scenarios.size() == 0, "games: coalitions=", coalitions.size(), " (for ",
          scenarios.size(), " games; each has as many). Give a multiple.");
  require(coalitions.players() == players, "games: players=", coalitions.players(), " (the games have ", players,
          "). Give coalitions of their players.");
  if (const auto engine = engine_together(op, scenarios)) return values_by(*engine, coalitions);
  const std::size_t each = coalitions.size() / scenarios.size(), all = coalitions.size();
  std::vector<double> values;
  values.reserve(all);
  const Scenario& first = scenarios.front();
  if (op.coalition_engine(first.input, first.baseline, first.partition, first.readout) != nullptr) {
    for (std::size_t game = 0; game < scenarios.size(); ++game) {
      Coalitions own(players);
      own.reserve(each);
      for (std::size_t row = game * each; row < (game + 1) * each; ++row) own.append(coalitions.row(row));
      const std::vector<double> found = cell_mask_game(op, scenarios[game])->values(own);
      values.insert(values.end(), found.begin(), found.end());
    }
    return values;
  }
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(1, op.preferred_batch(first.input.domain)));
  FieldBatch fields = FieldBatch::zeros(first.input.domain, 0, first.input.channels);
  for (std::size_t begin = 0; begin < all; begin += size) {
    fields.batch = 0;
    fields.values.clear();
    for (std::size_t row = begin; row < std::min(all, begin + size); ++row) {
      const Scenario& of = scenarios[row / each];
      fields.append(of.baseline);
      show(of.partition, coalitions.row(row), of.input, fields.field(fields.batch - 1));
    }
    const std::vector<double> found = op.values_at(fields, first.readout);
    values.insert(values.end(), found.begin(), found.end());
  }
  return values;
}

namespace {

/// What one game is asked for: values of coalitions, or gradients of one of its two smooth functions.
struct Question {
  enum class Of { values, input, mean_field };

  std::size_t game;
  Of of;
  const Coalitions* coalitions = nullptr;
  std::span<const double> points = {};
  std::vector<double> answer = {};
  std::exception_ptr error = {};
  bool answered = false;

  /// Coalitions or numbers.
  std::size_t size() const { return coalitions == nullptr ? points.size() : coalitions->size(); }
  /// Questions with equal kinds can be put together.
  auto kind() const { return std::tuple(of, size()); }
};

/// Where works on several threads wait for answers to what they ask their games.
class Table {
 public:
  Table(const Operator& op, std::span<const Scenario> scenarios) : operator_(op), scenarios_(scenarios) {}

  void sit_down() {
    const std::lock_guard lock(mutex_);
    ++works_;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    --works_;
    changed_.notify_all();
  }
  std::vector<double> ask(Question question) {
    std::unique_lock lock(mutex_);
    waiting_.push_back(&question);
    changed_.notify_all();
    changed_.wait(lock, [&] { return question.answered; });
    if (question.error) std::rethrow_exception(question.error);
    return std::move(question.answer);
  }
  /// Answers until all have left.
  void answer_all() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return waiting_.size() == works_; });
      if (works_ == 0) return;
      std::vector<Question*> questions = std::exchange(waiting_, {});
      lock.unlock();
      // In the scenarios' order, whoever came first.
      std::ranges::sort(questions, {}, [](const Question* one) { return std::tuple(one->kind(), one->game); });
      for (std::size_t first = 0, last = 0; first < questions.size(); first = last) {
        while (last < questions.size() && questions[last]->kind() == questions[first]->kind()) ++last;
        answer(std::span(questions).subspan(first, last - first));
      }
      lock.lock();
      for (Question* question : questions) question->answered = true;
      changed_.notify_all();
    }
  }

 private:
  /// Questions of one kind.
  void answer(std::span<Question* const> questions) const {
    try {
      const std::vector<double> all = answers(questions);
      const std::size_t each = all.size() / questions.size();
      for (std::size_t place = 0; place < questions.size(); ++place) {
        const auto own = std::span(all).subspan(place * each, each);
        questions[place]->answer.assign(own.begin(), own.end());
      }
    } catch (...) {
      for (Question* question : questions) question->error = std::current_exception();
    }
  }

  std::vector<double> answers(std::span<Question* const> questions) const {
    std::vector<Scenario> scenarios;
    for (const Question* question : questions) scenarios.push_back(scenarios_[question->game]);
    if (questions.front()->of == Question::Of::values) {
      Coalitions coalitions(questions.front()->coalitions->players());
      for (const Question* question : questions)
        for (std::size_t row = 0; row < question->size(); ++row) coalitions.append(question->coalitions->row(row));
      return values_together(operator_, scenarios, coalitions);
    }
    std::vector<double> points;
    for (const Question* question : questions)
      points.insert(points.end(), question->points.begin(), question->points.end());
    const MaskedOperator masked(operator_, scenarios);
    const auto pass =
        questions.front()->of == Question::Of::input ? &MaskedOperator::slopes : &MaskedOperator::mean_field_slopes;
    return MaskedOperator::gradients(
        scenarios.front().partition, points,
        [&](std::size_t count, const auto& weigh, const auto& use) { (masked.*pass)(count, weigh, use); });
  }

  const Operator& operator_;
  std::span<const Scenario> scenarios_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t works_ = 0;
  std::vector<Question*> waiting_;
};

/// A cell-mask game whose questions are answered at a table.
class GameAtTable final : public Game {
 public:
  GameAtTable(Table& table, std::size_t number, const Operator& op, const Scenario& scenario)
      : table_(table),
        number_(number),
        alone_(cell_mask_game(op, scenario)),
        of_input_(*this, alone_->extension(), Question::Of::input),
        of_mean_field_(*this, alone_->mean_field(), Question::Of::mean_field) {}

  int players() const override { return alone_->players(); }
  std::string path() const override { return alone_->path(); }
  const Extension* extension() const override { return alone_->extension() == nullptr ? nullptr : &of_input_; }
  const Extension* mean_field() const override { return alone_->mean_field() == nullptr ? nullptr : &of_mean_field_; }
  std::vector<std::int64_t> places() const override { return alone_->places(); }
  std::vector<int> active_players() const override { return alone_->active_players(); }

 private:
  class Slopes final : public Extension {
   public:
    Slopes(const GameAtTable& game, const Extension* alone, Question::Of of) : game_(game), alone_(alone), of_(of) {}

    std::vector<double> gradients(std::span<const double> points) const override {
      return game_.table_.ask({.game = game_.number_, .of = of_, .points = points});
    }
    bool everywhere() const override { return alone_->everywhere(); }
    bool has_kinks() const override { return alone_->has_kinks(); }
    bool multilinear() const override { return alone_->multilinear(); }
    std::int64_t pass_cost() const override { return alone_->pass_cost(); }

   private:
    const GameAtTable& game_;
    const Extension* alone_;
    Question::Of of_;
  };

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    return table_.ask({.game = number_, .of = Question::Of::values, .coalitions = &coalitions});
  }

  Table& table_;
  std::size_t number_;
  std::unique_ptr<Game> alone_;  ///< asked for nothing but what it is
  Slopes of_input_, of_mean_field_;
};

}  // namespace

void play_together(const Operator& op, std::span<const Scenario> scenarios,
                   const std::function<void(std::size_t b, const Game& game)>& work) {
  // As many as a batch of a training has: their questions fill a device, and their threads are few.
  constexpr std::size_t at_once = 64;
  std::vector<std::exception_ptr> errors(scenarios.size());
  for (std::size_t begin = 0; begin < scenarios.size(); begin += at_once) {
    const auto seated = scenarios.subspan(begin, std::min(at_once, scenarios.size() - begin));
    if (seated.size() > 1) static_cast<void>(MaskedOperator(op, seated));  // throws before anything has begun
    std::vector<std::unique_ptr<GameAtTable>> games;
    Table table(op, seated);
    for (std::size_t seat = 0; seat < seated.size(); ++seat)
      games.push_back(std::make_unique<GameAtTable>(table, seat, op, seated[seat]));
    std::vector<std::jthread> works;
    std::exception_ptr no_thread;
    for (std::size_t seat = 0; seat < seated.size() && !no_thread; ++seat) {
      table.sit_down();
      try {
        works.emplace_back([&, seat] {
          try {
            work(begin + seat, *games[seat]);
          } catch (...) {
            errors[begin + seat] = std::current_exception();
          }
          table.leave();
        });
      } catch (...) {
        table.leave();
        no_thread = std::current_exception();
      }
    }
    table.answer_all();
    works.clear();
    if (no_thread) std::rethrow_exception(no_thread);
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
  }
}

}  // namespace opshap::games
