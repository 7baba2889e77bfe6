#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "statistics/quantiles.hpp"

namespace opshap::reporting {

/// A sentence of the paper that a claim judges (reference_data/paper_sentences.csv).
struct PaperSentence {
  std::string where;     ///< section or caption, with the line of the LaTeX source
  std::string sentence;  ///< the paper's words in quotation marks
};

/// Lives as long as the program. Throws InvalidArgument naming the nearest id.
const PaperSentence& paper_sentence(std::string_view id);

/// A number that the paper states in its text (reference_data/paper_constants.csv). Throws InvalidArgument naming the
/// nearest name.
double paper_constant(std::string_view name);

/// The PDEs of the paper by their names in this project, in its order.
std::vector<std::string> paper_problems();

/// What a page calls a PDE of the paper: "Allen–Cahn 1D" (reference_data/paper_problems.csv); empty for another one.
std::string_view paper_label(std::string_view pde);

/// "periodic 1D", "1D", "periodic 2D", "2D" or "mesh" (reference_data/paper_problems.csv); empty for a PDE that is not
/// in the paper.
std::string_view paper_domain(std::string_view pde);

/// How the data of a problem differ from the paper's, or what is wrong with the paper's own
/// (reference_data/paper_data_remarks.csv).
struct DataRemark {
  std::string pde;       ///< empty: of every problem, and about the methods
  bool finding = false;  ///< a problem of the paper's data; else a difference between the two
  std::string subject;   ///< the heading
  std::string text;      ///< some sentences
};

/// In the order of the file. Lives as long as the program.
const std::vector<DataRemark>& data_remarks();

/// In what this suite differs from the paper whatever the profile, and what a reader must know to compare: a heading
/// and some sentences each. First those of this problem's data, then those of all problems.
std::vector<std::pair<std::string, std::string>> standing_differences(std::string_view pde);

/// One cell of the paper's result table (reference_data/paper_quality.csv).
struct PaperCell {
  std::string pde;
  int players = 0;  ///< each is a point of the grid
  std::string method, metric;
  statistics::Quartiles quartiles;
  int tex_line = 0;
};

/// All 396 cells, compiled into the program.
const std::vector<PaperCell>& paper_quality();

/// nullptr when the cells have no such one.
const PaperCell* find(const std::vector<PaperCell>& cells, std::string_view pde, int players, std::string_view method,
                      std::string_view metric);

/// The methods of the paper's result table by their names in this project, the paper's own method first.
std::vector<std::string> paper_methods();
/// The metrics of the paper's result table by their names in this project, in its order.
std::vector<std::string> paper_metrics();

}  // namespace opshap::reporting
