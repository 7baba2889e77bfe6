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

/// The titles of claims, each of which leads to its claim on the same page.
std::string claim_links(const std::vector<const Claim*>& claims);
/// What is counted, what these claims have in common, and which they are: "<strong>2 of 3</strong> hold: a; b".
std::string counted_claims(const std::string& what, const std::string& predicate,
                           const std::vector<const Claim*>& claims);

/// The rows say something about it: it holds, it does not, or they cannot tell.
bool is_judged(const JudgedClaim& claim);

/// The first screen in three sentences: what of the paper holds, what does not, what this suite adds.
std::string three_sentences(const std::vector<JudgedClaim>& claims);
/// How many claims have each verdict: a row for the paper's sentences, and one for our own checks.
std::string claim_counts(const std::vector<JudgedClaim>& claims);
/// Every claim with its rule, its verdict and its evidence.
std::string claims_section(const std::vector<JudgedClaim>& claims, const runs::Run& run);

}  // namespace opshap::reporting
