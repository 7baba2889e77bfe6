#pragma once

#include <string_view>

/// Texts that travel inside the program (lib/CMakeLists.txt names their files).
namespace opshap::reporting::embedded {

extern const std::string_view paper_quality;       ///< reference_data/paper_quality.csv
extern const std::string_view paper_sentences;     ///< reference_data/paper_sentences.csv
extern const std::string_view paper_problems;      ///< reference_data/paper_problems.csv
extern const std::string_view paper_data_remarks;  ///< reference_data/paper_data_remarks.csv
extern const std::string_view paper_constants;     ///< reference_data/paper_constants.csv
extern const std::string_view report_style;        ///< lib/reporting/report.css

}  // namespace opshap::reporting::embedded
