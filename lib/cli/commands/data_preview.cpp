// `opshap data preview`: some samples of a data set as pictures.

#include "cli/commands/data_preview.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "data/dataset.hpp"
#include "data/generate.hpp"
#include "reporting/data_sheet.hpp"

namespace opshap::cli {

namespace {

/// A heat map has a rectangle for each point: finer grids are drawn at every second, fourth, .. point.
constexpr int most_points_per_axis = 64;

struct PreviewOptions {
  std::filesystem::path file;
  std::vector<std::int64_t> samples;
};

/// Thinned out in the plane, so that the picture stays small.
FieldBatch drawable(const FieldBatch& field) {
  std::vector<int> shape;
  if (field.domain.dimension() < 2 || !field.domain.is_grid()) return field;
  for (Axis axis : field.domain.axes()) {
    while (axis.points > most_points_per_axis && axis.divided() % 2 == 0) axis = axis.strided(2);
    shape.push_back(axis.points);
  }
  return strided(field, shape);
}

std::vector<std::string> names(const std::vector<pde::Channel>& channels) {
  std::vector<std::string> found;
  for (const pde::Channel& channel : channels) found.push_back(channel.name);
  return found;
}

runs::FieldsRow fields_row(const data::Dataset& set, std::int64_t sample) {
  const FieldBatch input = drawable(set.inputs.one(sample)), target = drawable(set.targets.one(sample));
  return {.pde = set.pde,
          .sample = sample,
          .x = runs::coordinates_of(input.domain),
          .input = input.values,
          .solution = target.values,
          .prediction = {},
          .shape = input.domain.is_grid() ? input.domain.shape() : Resolution::own().numbers(),
          .input_channels = names(set.input_channels),
          .output_channels = names(set.target_channels),
          .cells = input.domain.is_grid() ? std::vector<std::int64_t>{} : input.domain.as_mesh().cells};
}

/// The values that the sample uses.
std::string in_words(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) {
    if (!std::isnan(value)) text += fmt::format("{}{:.4g}", text.empty() ? "" : ", ", value);
  }
  return text;
}

std::string heading(const data::Dataset& set, std::int64_t sample) {
  const auto i = static_cast<std::size_t>(sample);
  const char* part = set.split[i] == data::Split::train        ? "training"
                     : set.split[i] == data::Split::validation ? "validation"
                                                               : "test";
  return message("sample ", sample, ", ", part, ", served at ", set.resolutions[set.resolution_slot[i]]);
}

/// Four, evenly over the whole set.
std::vector<std::int64_t> spread(std::int64_t samples) {
  const std::int64_t count = std::min<std::int64_t>(4, samples);
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < count; ++i) chosen.push_back(count == 1 ? 0 : i * (samples - 1) / (count - 1));
  return chosen;
}

reporting::DataSheet sheet_of(const PreviewOptions& options) {
  const data::Dataset set = data::read_dataset(options.file);
  const auto metadata = nlohmann::ordered_json::parse(data::read_dataset_metadata(options.file));
  const auto drawn = data::read_drawn(options.file);
  reporting::DataSheet sheet{.pde = set.pde, .facts = {}, .samples = {}};
  sheet.facts = {{"Samples", std::to_string(set.samples())},
                 set.inputs.on_one_domain()
                     ? std::pair<std::string, std::string>("Grid", set.inputs.domain().describe())
                     : std::pair<std::string, std::string>("Meshes", std::to_string(set.inputs.domains())),
                 {"Origin", metadata.value("origin", "")},
                 {"Equation", metadata.value("equation", "")},
                 {"Content", "xxh64 " + set.content_hash}};
  for (const std::int64_t sample : options.samples.empty() ? spread(set.samples()) : options.samples) {
    require(sample >= 0 && sample < set.samples(), "data preview: --samples=", sample, " (the set has samples 0 to ",
            set.samples() - 1, "). Name some of these.");
    reporting::SheetSample shown{.heading = heading(set, sample), .fields = fields_row(set, sample), .drawn = {}};
    for (const pde::Drawn& numbers : drawn[static_cast<std::size_t>(sample / set.windows)]) {
      if (std::string words = in_words(numbers.values); !words.empty())
        shown.drawn.emplace_back(numbers.name, std::move(words));
    }
    sheet.samples.push_back(std::move(shown));
  }
  return sheet;
}

void run_preview(const PreviewOptions& options, const Globals& globals) {
  const std::string ending = globals.out.extension().string();
  require(ending == ".html" || ending == ".svg", "data preview: --out=", globals.out.string(),
          " (a sheet is a page or a drawing). Give a name that ends with .html or .svg.");
  const reporting::DataSheet sheet = sheet_of(options);
  write_file(globals.out, ending == ".html" ? sheet_html(sheet) : sheet_svg(sheet));
  if (globals.json) {
    print_json({{"file", globals.out.string()}, {"samples", sheet.samples.size()}});
  } else {
    std::cout << globals.out.string() << '\n';
  }
}

}  // namespace

void add_data_preview(CLI::App& data, const Globals& globals) {
  const auto [preview, options] = add_command<PreviewOptions>(
      data, "preview", "Draw samples of a data set with their targets; --out SHEET.html|svg", run_preview, globals);
  preview->add_option("file", options.file, "Data set")->required();
  preview->add_option("--samples", options.samples, "Which ones, from 0; without it four from the whole set")
      ->delimiter(',');
}

}  // namespace opshap::cli
