#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reporting/claims.hpp"

namespace opshap::reporting {

/// The claims of a run as parts of its page. Every text that is not ours is escaped.

/// The class of the style that a verdict has: "yes", "no" or "open".
std::string_view verdict_class(Verdict verdict);
/// A sign that tells verdicts apart without colour.
std::string_view sign(Verdict verdict);
/// Words and the verdict's sign in its colour.
std::string badge(Verdict verdict, const std::string& text);
/// to_string(), without what a page says already.
std::string verdict_in_words(Verdict verdict);

/// The rows say something about it: it holds, it does not, or they cannot tell.
bool is_judged(const JudgedClaim& claim);

/// The verdict, and where it is the opposite of the sentence or its confirmation: whether better or worse.
std::string verdict_in_words(const Judgement& judgement);

/// Every sentence that the rows say something about in a line: verdict, number, interval, and what the number had to
/// be. Each leads to its evidence on the same page.
std::string verdict_table(const std::vector<JudgedClaim>& claims);
/// Every claim with its rule, its verdict and its evidence.
std::string claims_section(const std::vector<JudgedClaim>& claims, const runs::Run& run);

}  // namespace opshap::reporting
