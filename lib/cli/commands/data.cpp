#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/commands/data_of_profile.hpp"
#include "cli/commands/data_preview.hpp"
#include "cli/globals.hpp"
#include "core/error.hpp"
#include "data/dataset.hpp"
#include "data/generate.hpp"
#include "data/import.hpp"
#include "data/import_meshgraphnets.hpp"
#include "data/import_pdebench.hpp"
#include "data/verify.hpp"
#include "pde/registry.hpp"

namespace opshap::cli {

using Json = nlohmann::ordered_json;

namespace {

struct GenerateOptions {
  data::DatasetRequest request;
  std::vector<std::string> settings;
  std::string shard = "0/1";
  std::filesystem::path frames;
  std::string profile;  ///< empty: one data set by its own options
  bool all = false;
};

struct ImportOptions {
  data::ImportRequest request;
  Resolution interpolate;
  data::PdebenchOptions pdebench;
  data::NpyOptions npy;
  data::MeshgraphnetsRequest flows;
  std::string centring = "node";
  const CLI::Option* says_periodic = nullptr;
};

Json description(const std::filesystem::path& path) {
  const Json metadata = Json::parse(data::read_dataset_metadata(path));
  Json json = {{"file", path.string()}, {"bytes", std::filesystem::file_size(path)}};
  json.update(metadata);
  return json;
}

/// "u [1], v [m/s] on grid 64 x 64: ...".
std::string channels_on_domain(const Json& space) {
  std::string text;
  for (const Json& channel : space["channels"]) {
    text += (text.empty() ? "" : ", ") + channel["name"].get<std::string>() + " [" +
            channel["unit"].get<std::string>() + "]";
  }
  if (!space.contains("domain")) return text + " on the mesh of each flow";
  return text + " on " + data::space_from_json(space, "data info").domain.describe();
}

void print_description(const Json& set) {
  const Json& request = set["request"];
  std::cout << set["file"].get<std::string>() << ": " << request["samples"] << " samples of "
            << set["pde"].get<std::string>() << " (" << set["equation"].get<std::string>() << ")\n";
  if (const std::string origin = data::imported_from(set); !origin.empty()) {
    std::cout << "imported     from " << origin << "\n";
    for (const Json& file : set["imported"]["files"]) {
      std::cout << "source       " << file["file"].get<std::string>() << ", " << file["bytes"] << " bytes, xxh64 "
                << file["xxh64"].get<std::string>() << "\n";
    }
    std::cout << "options      " << set["imported"]["options"].dump() << "\n";
    for (const std::string& note : data::import_notes(set)) std::cout << "note         " << note << "\n";
  }
  std::cout << "parameters   " << set["parameters"].dump();
  if (set.contains("target_time")) std::cout << ", target at t = " << set["target_time"];
  std::cout << "\n"
            << "split        " << request["train"] << " train, " << request["validation"] << " validation, "
            << request["test"] << " test\n";
  // Data sets of the first generators name no spaces.
  if (set.contains("input")) {
    std::cout << "input        " << channels_on_domain(set["input"]) << "\n"
              << "output       " << channels_on_domain(set["output"]) << "\n"
              << "input mean   " << set["input_mean"].dump() << " per channel, over the training samples\n";
  }
  if (set.contains("windows")) {
    std::cout << "trajectories " << request["trajectories"] << ", each with " << set["windows"] << " windows (t, t + "
              << set["lead"] << "); the counts above are of trajectories\n"
              << "frame        " << set["frame"].get<std::string>() << "\n";
  } else {
    std::cout << "served at    " << request["resolutions"].dump() << " points per axis\n";
  }
  if (set.contains("seed")) std::cout << "seed         " << set["seed"] << "\n";
  std::cout << "content      xxh64 " << set["content_xxh64"].get<std::string>() << ", " << set["bytes"] << " bytes\n";
}

/// Prints what a data set says of itself.
void show(const std::filesystem::path& file, const Globals& globals) {
  const Json set = description(file);
  globals.json ? print_json(set) : print_description(set);
}

void require_out(const char* who, const Globals& globals) {
  require(!globals.out.empty() && globals.out != "-", who, ": --out (a data set needs a file). Give --out FILE.");
}

void run_generate(const GenerateOptions& options, const Globals& globals) {
  data::DatasetRequest request = options.request;
  require(options.all || !request.pde.empty(),
          "data generate: --pde (which problem is not said). Give --pde NAME, or --all with --profile.");
  if (options.all || !options.profile.empty()) {
    require(!options.profile.empty(), "data generate: --all (says no sizes). Give --profile smoke, desk or paper.");
    return generate_for_profile(globals, options.profile, {options.all ? "all" : request.pde});
  }
  require_out("data generate", globals);
  request.parameters = pde::parse_parameters(options.settings);
  request.seed = globals.seed;
  data::LayoutRequest& layout = request.layout;
  if (layout.samples == 0) layout.samples = layout.train + layout.validation + layout.test;
  const runs::Part part = runs::Part::parse("data generate", options.shard);
  require(options.frames.empty() || pde::has_trajectories(request.pde),
          "data generate: --frames=", options.frames.string(), " (", request.pde,
          " has no frames on meshes). Leave it out.");
  data::generate(request, globals.out, part);
  if (!options.frames.empty()) data::write_frames(request, options.frames);
  if (!part.whole()) {
    if (globals.json) return print_json({{"file", globals.out.string()}, {"part", to_json(part)}});
    std::cout << globals.out.string() << ": part " << part.index << " of " << part.of << " of a data set\n";
    return;
  }
  show(globals.out, globals);
}

void run_merge(const std::vector<std::string>& files, const Globals& globals) {
  require_out("data merge", globals);
  data::merge({files.begin(), files.end()}, globals.out);
  show(globals.out, globals);
}

void run_verify(const std::filesystem::path& file, const Globals& globals) {
  const std::vector<data::DataCheck> checks = data::verify_dataset(file);
  bool passed = true;
  Json json = {{"file", file.string()}, {"passed", true}, {"checks", Json::array()}};
  for (const data::DataCheck& check : checks) {
    passed = passed && check.passed;
    json["checks"].push_back({{"name", check.name}, {"passed", check.passed}, {"detail", check.detail}});
    if (!globals.json)
      std::cout << (check.passed ? "ok      " : "FAILED  ") << check.name << ": " << check.detail << "\n";
  }
  json["passed"] = passed;
  if (globals.json) print_json(json);
  if (!passed) throw CheckFailed();
}

/// How samples are divided and served.
void add_layout(CLI::App& command, data::LayoutRequest& layout, const char* samples) {
  const CLI::Range count(std::int64_t{0}, std::int64_t{10'000'000});
  command.add_option("--samples", layout.samples, samples);
  command.add_option("--train", layout.train, "Samples for training")->check(count);
  command.add_option("--validation", layout.validation, "Samples for validation")->check(count);
  command.add_option("--test", layout.test, "Samples for testing")->check(count);
  add_resolutions(command, layout.resolutions,
                  "Points per axis at which samples are served in turn, such as 16,32 or 12x20,24x40 (default: the "
                  "grid and every second, fourth, .. point of it)");
}

/// How fields from elsewhere are taken.
void add_taking(CLI::App& command, ImportOptions& options) {
  add_layout(
      command, options.request.layout,
      "How many, from the first on (default: all); split 4220/750/30 in proportion unless the three counts are given");
  add_resolution(command, "--interpolate", options.interpolate,
                 "Points per axis of another grid that the fields are interpolated to: by Fourier on periodic axes, "
                 "else by cubics (default: their own grid)");
  command.add_flag("--skip-nonfinite", options.request.skip_nonfinite,
                   "Leave out samples with NaN or infinity; the set names them");
}

data::ImportRequest taking(const ImportOptions& options) {
  data::ImportRequest request = options.request;
  if (options.interpolate != Resolution()) request.interpolate = options.interpolate;
  return request;
}

void import_pdebench(const ImportOptions& options, const Globals& globals) {
  require_out("data import", globals);
  data::import_pdebench(options.pdebench, taking(options), globals.out);
  show(globals.out, globals);
}

void import_npy(const ImportOptions& options, const Globals& globals) {
  require_out("data import", globals);
  require(options.says_periodic->count() > 0,
          "data import npy: --periodic (missing: nothing in two arrays says it, and it decides where points lie and "
          "what an explainer sums over). Give --periodic true, or --periodic false.");
  data::NpyOptions npy = options.npy;
  npy.centring = options.centring == "cell" ? Centring::cell : Centring::node;
  data::import_dataset(data::open_npy(npy), taking(options), globals.out);
  show(globals.out, globals);
}

void import_meshgraphnets(const ImportOptions& options, const Globals& globals) {
  require_out("data import", globals);
  data::MeshgraphnetsRequest request = options.flows;
  request.seed = globals.seed;
  const bool given = !request.windows_like.empty();
  require(given || (request.lead > 0 && request.windows > 0),
          "data import meshgraphnets: --lead, --windows (nothing in the files says which frames make a sample). Give "
          "both, or --windows-like.");
  data::import_meshgraphnets(request, globals.out);
  show(globals.out, globals);
}

void add_import(CLI::App& data, const Globals& globals) {
  CLI::App* import = data.add_subcommand(
      "import", "Make a data set of fields from elsewhere; it is labelled as imported wherever it is used");
  import->require_subcommand(1);

  const auto [pdebench, file] = add_command<ImportOptions>(
      *import, "pdebench",
      "A file of PDEBench: advection, Burgers, diffusion-sorption, Darcy, shallow water, diffusion-reaction",
      import_pdebench, globals);
  pdebench->add_option("file,--input", file.pdebench.file, "The file; what it holds is found by its contents")
      ->required();
  pdebench->add_option("--time-index", file.pdebench.time_index,
                       "Time step of the target, the input is step 0 (default: at the paper's time)");
  pdebench->add_option("--problem", file.pdebench.problem,
                       "advection1d or burgers1d, for a file whose attributes do not say which");
  add_taking(*pdebench, file);

  const auto [npy, arrays] = add_command<ImportOptions>(
      *import, "npy", "Two arrays of NumPy, inputs and targets: [N,n], [N,C,n], [N,nx,ny] or [N,C,nx,ny] on one grid",
      import_npy, globals);
  npy->add_option("--input", arrays.npy.input, "Inputs (.npy)")->required();
  npy->add_option("--target", arrays.npy.target, "Targets (.npy)")->required();
  npy->add_option("--name", arrays.npy.name, "What to call the set, behind npy_ (default: the inputs' file name)");
  npy->add_option("--dimension", arrays.npy.dimension, "Axes of the grid, for arrays [N,a,b] (default: by the shape)")
      ->check(CLI::IsMember({1, 2}));
  arrays.says_periodic = npy->add_option("--periodic", arrays.npy.periodic,
                                         "Whether the grid is periodic, true or false; the arrays do not say it");
  npy->add_option("--centring", arrays.centring, "Where the points are, node or cell")
      ->check(CLI::IsMember({"node", "cell"}))
      ->capture_default_str();
  npy->add_option("--extent", arrays.npy.extent, "Length of each axis (default 1)")->delimiter(',');
  npy->add_option("--origin", arrays.npy.origin, "Where each axis begins (default 0)")->delimiter(',');
  add_taking(*npy, arrays);

  const auto [meshgraphnets, flows] = add_command<ImportOptions>(
      *import, "meshgraphnets",
      "Flows of the MeshGraphNets release, cylinder_flow or airfoil: TFRecord files, or .npz or .h5 files made of them",
      import_meshgraphnets, globals);
  meshgraphnets->add_option("folder", flows.flows.folder, "The folder with the parts train, valid and test")
      ->required();
  CLI::Option* lead =
      meshgraphnets->add_option("--lead", flows.flows.lead, "Frames from the input of a sample to its target");
  above_zero(lead);
  CLI::Option* windows = meshgraphnets->add_option("--windows", flows.flows.windows, "Samples of each trajectory");
  above_zero(windows);
  above_zero(
      meshgraphnets->add_option("--trajectories", flows.flows.trajectories, "The most of each part (default: all)"));
  meshgraphnets
      ->add_option("--windows-like", flows.flows.windows_like,
                   "A data set of trajectories whose lead and windows are taken")
      ->excludes(lead)
      ->excludes(windows);
}

}  // namespace

void add_data(CLI::App& app, const Globals& globals) {
  CLI::App* data = app.add_subcommand("data", "Generate, import, describe and verify data sets");
  data->require_subcommand(1);

  const auto [generate, options] = add_command<GenerateOptions>(
      *data, "generate", "Solve a PDE for random initial conditions; run again to resume, done when the file is there",
      run_generate, globals);
  CLI::Option* pde = generate->add_option("--pde", options.request.pde, "Which PDE (`opshap list pdes`)");
  generate->add_flag("--all", options.all, "Every problem of the paper, with --profile")->excludes(pde);
  add_layout(*generate, options.request.layout,
             "How many; split 4220/750/30 in proportion unless the three counts are given");
  generate
      ->add_option("--windows", options.request.windows,
                   "Samples of each trajectory of a flow on meshes; the counts then count trajectories")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  generate->add_option("--set", options.settings, "A parameter of the PDE, name=value; may be repeated")
      ->allow_extra_args(false);
  generate->add_option("--shard", options.shard,
                       "i/N: only the i-th of N parts, i from 0, into a file for `opshap data merge`");
  generate->add_option("--frames", options.frames,
                       "A folder: all frames of the flows too, in the format of the MeshGraphNets release");
  CLI::Option* profile = generate->add_option(
      "--profile", options.profile, "The sizes of a profile, with an estimate of the cost; --out is a folder then");
  for (const char* size :
       {"--samples", "--train", "--validation", "--test", "--resolutions", "--windows", "--set", "--shard", "--frames"})
    profile->excludes(size);

  add_import(*data, globals);

  const auto [merge, files] = add_command<std::vector<std::string>>(
      *data, "merge", "The parts of a data set to the file that one run would have made", run_merge, globals);
  merge->add_option("files", files, "All parts, in any order")->required();

  const auto [info, described] =
      add_command<std::filesystem::path>(*data, "info", "How a data set was made", show, globals);
  info->add_option("file", described, "Data set")->required();

  add_data_preview(*data, globals);

  const auto [verify, verified] = add_command<std::filesystem::path>(
      *data, "verify", "Re-read a data set, check all checksums and laws, and make five of its samples again",
      run_verify, globals);
  verify->add_option("file", verified, "Data set")->required();
}

}  // namespace opshap::cli
