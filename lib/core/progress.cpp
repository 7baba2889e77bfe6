#include "core/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace opshap {

namespace {

std::atomic<Verbosity> current_verbosity{Verbosity::normal};

std::string duration(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  char text[32];
  if (whole < 60) {
    std::snprintf(text, sizeof text, "%lds", whole);
  } else if (whole < 3600) {
    std::snprintf(text, sizeof text, "%ldm%02lds", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%ldh%02ldm", whole / 3600, whole / 60 % 60);
  }
  return text;
}

/// "[######..............] ", a letter for each twentieth.
std::string bar(std::int64_t done, std::int64_t total) {
  constexpr std::int64_t letters = 20;
  const std::int64_t full = total > 0 ? std::clamp<std::int64_t>(letters * done / total, 0, letters) : letters;
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(letters - full), '.') + "] ";
}

}  // namespace

void set_verbosity(Verbosity verbosity) { current_verbosity = verbosity; }

Verbosity verbosity() { return current_verbosity; }

Progress::Progress(std::string label, std::int64_t total, std::string unit,
                   std::chrono::steady_clock::duration patience)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      terminal_(isatty(STDERR_FILENO) == 1 && std::getenv("CI") == nullptr),
      patience_(patience),
      start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (terminal_ && shown_ && verbosity() != Verbosity::quiet) std::fputc('\n', stderr);
}

void Progress::advance(std::int64_t count, const std::string& note) {
  const std::lock_guard lock(mutex_);
  done_ += count;
  if (verbosity() == Verbosity::quiet) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - start_ < patience_) return;
  const int parts = verbosity() == Verbosity::verbose ? 100 : 10;
  const int parts_done = total_ > 0 ? static_cast<int>(parts * done_ / total_) : parts;
  if (terminal_ ? (done_ >= total_ || now - last_shown_ > std::chrono::milliseconds(200)) : parts_done > parts_shown_) {
    last_shown_ = now;
    parts_shown_ = parts_done;
    shown_ = true;
    show(note, done_ >= total_);
  }
}

void Progress::skip(std::int64_t count) {
  const std::lock_guard lock(mutex_);
  done_ += count;
  skipped_ += count;
}

void Progress::show(const std::string& note, bool last) {
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double rate = elapsed > 0 ? static_cast<double>(done_ - skipped_) / elapsed : 0;
  const double left = rate > 0 ? static_cast<double>(total_ - done_) / rate : 0;
  std::fprintf(stderr, "%s%s %s%lld/%lld %s, %.3g/s, %s %s%s%s%s", terminal_ ? "\r\033[K" : "", label_.c_str(),
               terminal_ ? bar(done_, total_).c_str() : "", static_cast<long long>(done_),
               static_cast<long long>(total_), unit_.c_str(), rate, duration(last ? elapsed : left).c_str(),
               last ? "in all" : "left", note.empty() ? "" : ", ", note.c_str(), terminal_ ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace opshap
