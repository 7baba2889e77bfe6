#pragma once

#include <string>
#include <string_view>

namespace opshap::reporting {

/// A sentence of the paper that a claim judges (reference_data/paper_sentences.csv).
struct PaperSentence {
  std::string id;        ///< of the claim
  std::string where;     ///< section or caption, with the line of the LaTeX source
  std::string sentence;  ///< the paper's words in quotation marks
};

/// Lives as long as the program. Throws InvalidArgument naming the nearest id.
const PaperSentence& paper_sentence(std::string_view id);

/// A number that the paper states in its text (reference_data/paper_constants.csv). Throws InvalidArgument naming the
/// nearest name.
double paper_constant(std::string_view name);

/// "periodic 1D", "1D", "periodic 2D", "2D" or "mesh" (reference_data/paper_problems.csv); empty for a PDE that is not in
/// the paper.
std::string_view paper_domain(std::string_view pde);

}  // namespace opshap::reporting
