#pragma once

#include <string_view>

/// Texts that travel inside the program (lib/CMakeLists.txt names their files).
namespace opshap::reporting::embedded {

extern const std::string_view paper_quality;  ///< reference_data/paper_quality.csv
extern const std::string_view report_style;   ///< lib/reporting/report.css

}  // namespace opshap::reporting::embedded
