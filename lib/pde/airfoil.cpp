#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <numbers>
#include <utility>

#include "core/error.hpp"
#include "pde/fields.hpp"
#include "pde/finite_volumes.hpp"
#include "pde/mesher.hpp"
#include "pde/trajectories.hpp"

namespace opshap::pde {

namespace {

constexpr double most_angle = 90, most_frames = 1e4, least_mach = 0.01;
constexpr std::int64_t most_unsteady_steps = 500'000, most_steady_steps = 30'000;

/// The upper side of the airfoil NACA 0012 with a closed trailing edge at x in [0, 1] (Jacobs, Ward and Pinkerton, NACA
/// Report 460, 1933, whose last coefficient .1015 leaves the trailing edge open).
double naca_0012(double x) {
  return 0.6 * (0.2969 * std::sqrt(x) + x * (-0.126 + x * (-0.3516 + x * (0.2843 - 0.1036 * x))));
}

/// The airfoil from its tail over the upper side to its nose and back: angle in [0, 2π].
Point on_airfoil(double angle) {
  const double x = (1 + std::cos(angle)) / 2;
  return {x, (angle < std::numbers::pi ? 1 : -1) * naca_0012(x)};
}

/// What the mesh depends on: in chords.
struct Geometry {
  double far_field, edge, middle, growth;

  auto operator<=>(const Geometry&) const = default;
};

/// A mesh, what its nodes are, and its control volumes.
struct Surroundings {
  Domain domain;
  std::vector<NodeType> node_types;
  std::shared_ptr<const DualMesh> volumes;

  /// A trajectory here, without a frame so far.
  Trajectory still() const {
    Trajectory made;
    made.domain = domain;
    made.node_types = node_types;
    made.recorded = {{"lift", {}}, {"drag", {}}};
    return made;
  }
};

Surroundings surroundings_of(const Geometry& geometry) {
  constexpr double pi = std::numbers::pi;
  const auto at_ends = [&](double x, double y) {
    return geometry.edge + geometry.growth * std::min(std::hypot(x, y), std::hypot(x - 1, y));
  };
  const auto beside = [&](double x, double y) { return std::min(geometry.middle, at_ends(x, y)); };
  Polygon airfoil = spaced(on_airfoil, 0, pi, beside, 2);
  std::ranges::copy(spaced(on_airfoil, pi, 2 * pi, beside, 2), std::back_inserter(airfoil));
  const auto length = [&](double x, double y) {
    return std::min(geometry.middle + geometry.growth * distance(airfoil, {x, y}), at_ends(x, y));
  };
  const auto on_circle = [&](double angle) {
    return Point{geometry.far_field * std::cos(angle), geometry.far_field * std::sin(angle)};
  };
  const Polygon circle = spaced(on_circle, 0, 2 * pi, length, 3);
  Mesh mesh = triangulated({circle, airfoil}, length, Rng(0, "airfoil"));
  std::vector<NodeType> types(static_cast<std::size_t>(mesh.size()), NodeType::normal);
  std::fill_n(types.begin(), circle.size(), NodeType::inflow);
  std::fill_n(types.begin() + static_cast<std::ptrdiff_t>(circle.size()), airfoil.size(), NodeType::airfoil);
  const double between = (geometry.far_field + 1) / 2;
  auto volumes = std::make_shared<const DualMesh>(
      DualMesh::of(mesh, [&](double x, double y) { return std::hypot(x, y) < between; }));
  return {Domain::mesh(std::move(mesh)), std::move(types), std::move(volumes)};
}

/// Made once for each geometry, and kept to the end of the program.
const Surroundings& kept_surroundings(const Geometry& geometry) {
  static std::mutex mutex;
  static std::map<Geometry, Surroundings> kept;
  const std::lock_guard lock(mutex);
  const auto found = kept.find(geometry);
  return found != kept.end() ? found->second : kept.emplace(geometry, surroundings_of(geometry)).first->second;
}

class Airfoil final : public Trajectories {
 public:
  explicit Airfoil(std::vector<Parameter> parameters) : Trajectories(std::move(parameters)) {
    require_positive({"far_field", "edge", "middle", "growth", "last_time", "frames", "lead"});
    const auto [far_field, edge, middle, growth] = geometry();
    require(far_field >= 3 && far_field <= 1000, "airfoil: far_field=", far_field,
            " (is too near to the airfoil, or too far). Give 3 to 1000.");
    require(edge >= 1e-4 && edge <= middle && middle <= 0.2, "airfoil: edge=", edge, ", middle=", middle,
            " (edges are longest between nose and tail, and show the airfoil). Give 0.0001 <= edge <= middle <= 0.2.");
    require(growth >= 0.02 && growth <= 0.2, "airfoil: growth=", growth,
            " (neighbouring edges would differ too much, or be too many). Give 0.02 to 0.2.");
    const double frames = number("frames"), frame_of_lead = number("lead") / number("last_time") * frames;
    require(frames == std::round(frames) && frames <= most_frames, "airfoil: frames=", frames,
            " (not a whole number up to ", most_frames, "). Give one.");
    // Rounding of two divisions and products.
    require(std::abs(frame_of_lead - std::round(frame_of_lead)) <= 1e-9 * frame_of_lead && frame_of_lead < frames,
            "airfoil: lead=", number("lead"), " (not a whole number of frames within the trajectory, which are ",
            number("last_time") / frames, " apart). Give one.");
  }
  std::unique_ptr<Trajectories> with(const ParameterValues& changes) const override {
    return std::make_unique<Airfoil>(changed(name(), parameters(), changes));
  }

  std::string_view name() const override { return "airfoil"; }
  std::string_view summary() const override {
    return "Euler equations around the airfoil NACA 0012 from an impulsive start, Mach number to Mach number";
  }
  std::string_view scheme() const override {
    return "finite volumes on the median dual (MUSCL, van Albada), HLLC fluxes, SSP Runge-Kutta of order 2";
  }
  ParameterValues quick() const override {
    return {{"far_field", 4.0}, {"edge", 0.04},   {"middle", 0.08}, {"growth", 0.2},
            {"last_time", 1.2}, {"frames", 12.0}, {"lead", 0.3}};
  }
  std::vector<Invariant> invariants() const override {
    return {{"mass_drift", 1e-12, "Report this: no setting can break the law."}};
  }
  ScenarioRule default_rule() const override {
    return {.players = ScenarioRule::Players::blocks,
            .blocks = 64,
            .baseline = ScenarioRule::Hidden::node_mean,
            .query = ScenarioRule::Where::position,
            .position = {0.67, 0.2}};
  }
  Rest rest() const override { return {.state = {}, .reason = "a gas that moves past a body is nowhere the same"}; }

  std::vector<Channel> state() const override {
    return {{"velocity_x", "1"}, {"velocity_y", "1"}, {"density", "1"}, {"pressure", "1"}};
  }
  std::vector<Channel> channels() const override { return {{"mach", "1"}}; }
  std::vector<float> observed(std::span<const float> frame) const override;

  std::vector<Parameter> numbers() const override {
    return {{"mach", 0.5, "Mach number of the free stream"}, {"angle", 0, "Its angle of attack, in degrees"}};
  }
  std::vector<Parameter> draw(const Rng& root, std::uint64_t trajectory) const override;
  std::vector<double> times() const override;
  double lead() const override { return number("lead"); }
  std::optional<Box> frame() const override {
    if (choice("frame") == "box") return std::nullopt;
    return Box{{-1, -1.5}, {2, 1.5}};
  }

  Trajectory run(const std::vector<Parameter>& numbers, std::span<const double> times) const override;
  Trajectory steady(const std::vector<Parameter>& numbers) const override;

 private:
  Geometry geometry() const { return {number("far_field"), number("edge"), number("middle"), number("growth")}; }
  Gas free_stream(const std::vector<Parameter>& numbers) const;
};

/// Mach number and angle are those of the paper that made the original data (Pfaff et al., ICLR 2021): uniform on
/// [.2, .7) and [−25, 25) degrees.
std::vector<Parameter> Airfoil::draw(const Rng& root, std::uint64_t trajectory) const {
  Rng stream = root.stream(static_cast<std::uint32_t>(Purpose::geometry), trajectory);
  std::vector<Parameter> drawn = numbers();
  drawn[0].value = stream.uniform(0.2, 0.7);
  drawn[1].value = stream.uniform(-25, 25);
  return drawn;
}

std::vector<double> Airfoil::times() const {
  const double frames = number("frames");
  std::vector<double> times;
  for (double k = 1; k <= frames; ++k) times.push_back(number("last_time") * k / frames);
  return times;
}

std::vector<float> Airfoil::observed(std::span<const float> frame) const {
  const std::size_t nodes = frame.size() / 4;
  std::vector<float> mach(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    mach[i] = static_cast<float>(mach_number({frame[2 * nodes + i], frame[i], frame[nodes + i], frame[3 * nodes + i]}));
  }
  return mach;
}

Gas Airfoil::free_stream(const std::vector<Parameter>& numbers) const {
  const double mach = pde::number(numbers, "mach"), angle = pde::number(numbers, "angle");
  require(mach >= least_mach && mach < 1, "airfoil: mach=", mach,
          " (a slower stream drowns in the error of the scheme, and the mesh has no room for the shock before a faster "
          "one). Give ",
          least_mach, " or more and less than 1.");
  require(std::abs(angle) <= most_angle, "airfoil: angle=", angle, " (not within ", most_angle,
          " degrees). Turn the stream less.");
  const double turned = angle * std::numbers::pi / 180;
  return {1, mach * std::cos(turned), mach * std::sin(turned), 1 / heat_ratio};
}

/// Of lift and drag: a force over half of ρ|v|² of the stream, across it and along it.
std::array<double, 2> coefficients(const GasFlow& flow, const Gas& stream) {
  const auto [x, y] = flow.force_on_walls();
  const double square = stream.velocity_x * stream.velocity_x + stream.velocity_y * stream.velocity_y,
               scale = 2 / (square * std::sqrt(square));
  return {scale * (y * stream.velocity_x - x * stream.velocity_y),
          scale * (x * stream.velocity_x + y * stream.velocity_y)};
}

/// One more frame.
void record(Trajectory& trajectory, const GasFlow& flow, const Gas& stream, double time) {
  const auto nodes = static_cast<std::size_t>(trajectory.nodes()), before = trajectory.frames.size();
  trajectory.times.push_back(time);
  trajectory.frames.resize(before + 4 * nodes);
  float* frame = &trajectory.frames[before];
  for (std::size_t i = 0; i < nodes; ++i) {
    const Gas gas = flow.at(static_cast<std::int64_t>(i));
    frame[i] = static_cast<float>(gas.velocity_x);
    frame[nodes + i] = static_cast<float>(gas.velocity_y);
    frame[2 * nodes + i] = static_cast<float>(gas.density);
    frame[3 * nodes + i] = static_cast<float>(gas.pressure);
  }
  const auto [lift, drag] = coefficients(flow, stream);
  trajectory.recorded[0].values.push_back(lift);
  trajectory.recorded[1].values.push_back(drag);
}

Trajectory Airfoil::run(const std::vector<Parameter>& numbers, std::span<const double> times) const {
  const Gas stream = free_stream(numbers);
  require(!times.empty(), "airfoil: times=0 (no time is asked for). Give one.");
  for (std::size_t k = 0; k < times.size(); ++k) {
    require_time(name(), times[k]);
    require(k == 0 || times[k] > times[k - 1], "airfoil: time=", times[k], " (is not after the one before it). ",
            "Give times in ascending order.");
  }
  const Surroundings& around = kept_surroundings(geometry());
  GasFlow flow(around.volumes);
  flow.fill(stream);
  Trajectory trajectory = around.still();
  const double mass = flow.mass();
  double now = 0;
  for (const double time : times) {
    while (now < time) {
      const double step = flow.advance(time - now);
      const bool last = step >= time - now;
      require(last || (times.back() - now) / step <= most_unsteady_steps, "airfoil: t=", now, ", dt=", step,
              " (more than ", most_unsteady_steps, " steps to the end). Give an earlier time or a coarser mesh.");
      if (trajectory.steps++ == 0) trajectory.step = step;
      now = last ? time : now + step;
    }
    record(trajectory, flow, stream, time);
  }
  trajectory.departures = {std::abs(flow.mass() - mass + flow.mass_gone()) / mass};
  return trajectory;
}

Trajectory Airfoil::steady(const std::vector<Parameter>& numbers) const {
  // Lift and drag that stay within `settled` of each other so long are steady.
  constexpr std::size_t apart = 100, remembered = 10;
  constexpr double settled = 2e-4;
  const Gas stream = free_stream(numbers);
  const Surroundings& around = kept_surroundings(geometry());
  GasFlow flow(around.volumes);
  flow.fill(stream);
  Trajectory trajectory = around.still();
  std::deque<std::array<double, 2>> latest;
  const auto spread = [&](std::size_t which) {
    const auto [low, high] = std::ranges::minmax(latest, {}, [=](const auto& pair) { return pair[which]; });
    return high[which] - low[which];
  };
  while (latest.size() < remembered || spread(0) > settled || spread(1) > settled) {
    require<NumericalError>(trajectory.steps < most_steady_steps, "airfoil: mach=", pde::number(numbers, "mach"),
                            ", angle=", pde::number(numbers, "angle"), " (lift and drag still change after ",
                            most_steady_steps, " steps: the flow may not be steady). Give --time.");
    for (std::size_t step = 0; step < apart; ++step) flow.relax();
    trajectory.steps += apart;
    if (latest.size() == remembered) latest.pop_front();
    latest.push_back(coefficients(flow, stream));
  }
  record(trajectory, flow, stream, 0);
  trajectory.departures = {0};
  return trajectory;
}

}  // namespace

std::unique_ptr<Trajectories> airfoil() {
  return std::make_unique<Airfoil>(std::vector<Parameter>{
      {"far_field", 20, "radius of the circle around the airfoil's nose at which the mesh ends, in chords"},
      {"edge", 0.0075, "length of an edge at nose and tail, in chords"},
      {"middle", 0.0125, "length of an edge between them, on the airfoil"},
      {"growth", 0.09, "by how much edges grow with the distance from the airfoil"},
      {"last_time", 12, "of the last frame, in chords over the speed of sound"},
      {"frames", 100, "frames of a trajectory, equally spaced after time 0"},
      {"lead", 1.2, "from an input to its target: a whole number of frames"},
      {"frame", 0, "what of the mesh a data set keeps: [-1, 2] x [-1.5, 1.5], or all of it", {"near", "box"}}});
}

}  // namespace opshap::pde
