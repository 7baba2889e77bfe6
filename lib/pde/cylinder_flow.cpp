#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "pde/mesher.hpp"
#include "pde/taylor_hood.hpp"
#include "pde/trajectories.hpp"

namespace opshap::pde {

namespace {

constexpr Point query{0.4, 0.1};
/// Between the disc and the query, and between the disc and the walls, in metres.
constexpr double off_the_query = 0.02, off_the_walls = 0.06;
constexpr double least_radius = 0.03, most_radius = 0.07, first_centre = 0.2, last_centre = 0.45;

/// Edges grow by this times the distance from the disc, and from the box behind it where vortices form.
constexpr double growth = 0.16;
/// The longest edges, and those of the box, in edges of the disc.
constexpr double longest = 3.5, in_the_wake = 1.7;
/// From the centre on, in metres; and from its middle to either side, in radii.
constexpr double wake_length = 0.3, wake_width = 1.2;

/// The largest speed beside the disc over the one that the narrowed channel has in its middle.
constexpr double speed_up = 1.15;
/// Up to this Péclet number of an edge viscosity damps what the explicit convection amplifies at a Courant number of
/// .2. It amplifies waves by their fourth power per step, so that above the step falls with the third root.
constexpr double damped = 16;
/// No flow here is faster than this times the peak of the inflow; steps that were too large are.
constexpr double too_fast = 5;
constexpr std::int64_t steps_between_looks = 16;
constexpr double least_peak = 1e-6, most_cylinder_steps = 1e7, most_nodes = 1e5;

/// A disc in a channel.
struct DiscInChannel {
  double length, height, radius;
  Point centre;
  double edge;

  double edge_length(double x, double y) const {
    const double off_disc = std::max(std::hypot(x - centre[0], y - centre[1]) - radius, 0.0);
    const double before = std::max(centre[0] - x, x - centre[0] - wake_length);
    const double beside = std::abs(y - centre[1]) - wake_width * radius;
    const double off_wake = std::hypot(std::max(before, 0.0), std::max(beside, 0.0));
    return std::min({longest * edge, edge + growth * off_disc, in_the_wake * edge + growth * off_wake});
  }

  /// Of the disc, anticlockwise from its rear point on; its front point is among them. A regular polygon with the area
  /// of the disc: with its points on the circle it would be smaller, and so would the drag.
  Polygon disc() const {
    const double half = std::max(3.0, std::round(std::numbers::pi * radius / edge));
    const double turn = std::numbers::pi / half, outer = radius * std::sqrt(turn / std::sin(turn));
    Polygon points;
    for (double i = 0; i < 2 * half; ++i)
      points.push_back({centre[0] + outer * std::cos(i * turn), centre[1] + outer * std::sin(i * turn)});
    return points;
  }

  Polygon walls(const EdgeLength& edge_lengths) const {
    const Polygon corners{{0, 0}, {length, 0}, {length, height}, {0, height}};
    Polygon points;
    for (std::size_t i = 0; i < 4; ++i) {
      const Polygon one = spaced(corners[i], corners[(i + 1) % 4], edge_lengths);
      points.insert(points.end(), one.begin(), one.end());
    }
    return points;
  }

  /// Corners are walls.
  NodeType type_on_the_walls(const Point& point) const {
    if (point[1] == 0 || point[1] == height) return NodeType::wall;
    return point[0] == 0 ? NodeType::inflow : NodeType::outflow;
  }

  /// At this peak of the inflow.
  double longest_step(double peak, double viscosity, double courant) const {
    const double fastest = speed_up * peak / (1 - 2 * radius / height);
    const double peclet = fastest * edge / viscosity;
    return courant * edge / fastest * std::min(1.0, std::cbrt(damped / peclet));
  }
};

class CylinderFlow final : public Trajectories {
 public:
  explicit CylinderFlow(std::vector<Parameter> parameters) : Trajectories(std::move(parameters)) {
    require_positive({"length", "height", "viscosity", "first_time", "lead", "edge", "courant"});
    require_not_negative({"ramp"});
    const double first = number("first_time"), frames = number("frames"), last = number("last_time");
    require(first >= number("ramp"), name(), ": first_time=", first, " (the inflow grows until ramp=", number("ramp"),
            ", which a frame does not show). Give a later one.");
    require(frames >= 2 && frames <= 1e5 && frames == std::floor(frames), name(), ": frames=", frames,
            " (not a whole number from 2 to 100000). Give such a one.");
    require(last > first, name(), ": last_time=", last, " (not after first_time=", first, "). Give a later one.");
    const double leap = number("lead") / spacing();
    require(std::abs(leap - std::round(leap)) < 1e-6 && std::round(leap) >= 1, name(), ": lead=", number("lead"),
            " (not a whole number of frames, which are ", spacing(), " apart). Give a multiple of that.");
    require(std::round(leap) < frames, name(), ": lead=", number("lead"), " (longer than the ", last - first,
            " from the first frame to the last one). Give a smaller one.");
    const double room = 2 * (most_radius + off_the_walls) + 0.01;
    require(number("height") >= room, name(), ": height=", number("height"),
            " (the largest disc does not fit between the walls). Give at least ", room, ".");
    const double rear = last_centre + most_radius + 2 * off_the_walls;
    require(number("length") >= rear, name(), ": length=", number("length"),
            " (the outlet would be at the disc). Give at least ", rear, ".");
    require(number("edge") <= least_radius, name(), ": edge=", number("edge"), " (the smallest disc has a radius of ",
            least_radius, "). Give less.");
    const double nodes = number("length") * number("height") / std::pow(longest * number("edge"), 2);
    require(nodes <= most_nodes, name(), ": edge=", number("edge"), " (makes at least ", nodes,
            " nodes). Give a larger one.");
  }

  std::string_view name() const override { return "cylinder_flow"; }
  std::string_view summary() const override {
    return "u_t + (u·∇)u = -∇p + nu Δu, ∇·u = 0 in a channel around a disc, whose place differs from sample to sample";
  }
  std::string_view scheme() const override {
    return "quadratic velocities and linear pressures on triangles, backward differences of order 2, explicit "
           "convection, rotational pressure correction";
  }
  std::unique_ptr<Trajectories> with(const ParameterValues& changes) const override {
    return std::make_unique<CylinderFlow>(changed(name(), parameters(), changes));
  }
  ParameterValues quick() const override {
    return {{"edge", 0.015}, {"length", 0.8}, {"last_time", 0.3}, {"frames", 3.0}, {"lead", 0.1}};
  }
  /// ‖∇·u‖ times the diameter, over the peak velocity and the root of the area. Quick flows have up to .009, those of
  /// the defaults .0018.
  std::vector<Invariant> invariants() const override { return {{"divergence", 0.02, "Use a smaller courant."}}; }
  Rest rest() const override {
    return {.state = {}, .reason = "walls and the disc stop a flow that the inlet drives, so no velocity stays"};
  }
  ScenarioRule default_rule() const override {
    ScenarioRule rule;
    rule.players = ScenarioRule::Players::blocks;
    rule.blocks = 64;
    rule.baseline = ScenarioRule::Hidden::mean;
    rule.query = ScenarioRule::Where::position;
    rule.position = {query[0], query[1]};
    return rule;
  }

  std::vector<Channel> state() const override {
    return {{"velocity_x", "m/s"}, {"velocity_y", "m/s"}, {"pressure", "Pa"}};
  }
  std::vector<Channel> channels() const override { return {{"velocity_x", "m/s"}, {"velocity_y", "m/s"}}; }
  std::vector<float> observed(std::span<const float> frame) const override {
    return {frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(frame.size() / 3 * 2)};
  }

  std::vector<Parameter> numbers() const override { return numbers(0.05, 0.2, 0.2, 1.5); }
  std::vector<Parameter> draw(const Rng& root, std::uint64_t trajectory) const override;

  std::vector<double> times() const override {
    std::vector<double> times;
    for (double frame = 0; frame < number("frames"); ++frame) times.push_back(number("first_time") + frame * spacing());
    return times;
  }
  double lead() const override { return number("lead"); }
  Trajectory run(const std::vector<Parameter>& numbers, std::span<const double> times) const override;

 private:
  double spacing() const { return (number("last_time") - number("first_time")) / (number("frames") - 1); }
  static std::vector<Parameter> numbers(double radius, double centre_x, double centre_y, double peak_velocity) {
    return {{"radius", radius, "of the disc, in metres"},
            {"centre_x", centre_x, "of the disc, from the inlet"},
            {"centre_y", centre_y, "of the disc, from the lower wall"},
            {"peak_velocity", peak_velocity, "of the inflow, in the middle of the channel"}};
  }
  DiscInChannel channel(const std::vector<Parameter>& numbers) const;
};

std::vector<Parameter> CylinderFlow::draw(const Rng& root, std::uint64_t trajectory) const {
  Rng stream = root.stream(static_cast<std::uint32_t>(Purpose::geometry), trajectory);
  double radius = 0, x = 0, y = 0;
  do {
    radius = stream.uniform(least_radius, most_radius);
    x = stream.uniform(first_centre, last_centre);
    y = stream.uniform(radius + off_the_walls, number("height") - radius - off_the_walls);
  } while (std::hypot(query[0] - x, query[1] - y) < radius + off_the_query);
  return numbers(radius, x, y, stream.uniform(0.75, 2.25));
}

DiscInChannel CylinderFlow::channel(const std::vector<Parameter>& numbers) const {
  const DiscInChannel channel{.length = number("length"),
                              .height = number("height"),
                              .radius = pde::number(numbers, "radius"),
                              .centre = {pde::number(numbers, "centre_x"), pde::number(numbers, "centre_y")},
                              .edge = number("edge")};
  require(channel.radius >= channel.edge, name(), ": radius=", channel.radius,
          " (of the disc: at least edge=", channel.edge, "). Give a larger one, or a smaller edge.");
  const auto [x, y] = channel.centre;
  require(std::isfinite(x) && std::isfinite(y), name(), ": centre=(", x, ", ", y, ") (not finite). Give a place.");
  const double room = std::min({x, channel.length - x, y, channel.height - y}) - channel.radius;
  require(room >= 2 * channel.edge, name(), ": centre=(", x, ", ", y, ") with radius=", channel.radius, " (leaves ",
          room, " to a wall, the inlet or the outlet: at least two edges of ", channel.edge,
          " are needed). Move the disc, or give a smaller edge.");
  return channel;
}

Trajectory CylinderFlow::run(const std::vector<Parameter>& numbers, std::span<const double> times) const {
  const DiscInChannel channel = this->channel(numbers);
  const double peak = pde::number(numbers, "peak_velocity"), viscosity = number("viscosity"), ramp = number("ramp");
  require(peak >= least_peak && std::isfinite(peak), name(), ": peak_velocity=", peak, " (no flow). Give at least ",
          least_peak, ".");
  require(!times.empty(), name(), ": times=0 (nothing is asked for). Give one at least.");
  for (std::size_t k = 0; k < times.size(); ++k)
    require(std::isfinite(times[k]) && times[k] >= 0 && (k == 0 || times[k] > times[k - 1]), name(),
            ": time=", times[k], " (not from 0 on, or not after the one before). Give ascending times.");
  const double longest_step = channel.longest_step(peak, viscosity, number("courant"));
  require(times.back() / longest_step <= most_cylinder_steps, name(), ": time=", times.back(), " (takes ",
          times.back() / longest_step, " steps). Give an earlier one, or a larger edge.");

  const EdgeLength edge_lengths = [&](double x, double y) { return channel.edge_length(x, y); };
  const Polygon walls = channel.walls(edge_lengths), disc = channel.disc();
  Trajectory flow{.domain = Domain::mesh(triangulated({walls, disc}, edge_lengths, Rng(0, name())))};
  for (const Point& point : walls) flow.node_types.push_back(channel.type_on_the_walls(point));
  flow.node_types.insert(flow.node_types.end(), disc.size(), NodeType::wall);
  flow.node_types.resize(static_cast<std::size_t>(flow.nodes()), NodeType::normal);

  const double height = channel.height, margin = channel.edge * 1e-6;
  const auto inflow = [=](double x, double y, double time) -> Point {
    if (x > margin) return {0, 0};
    const double grown = time < ramp ? (1 - std::cos(std::numbers::pi * time / ramp)) / 2 : 1;
    return {4 * peak * y * (height - y) / (height * height) * grown, 0};
  };
  const auto is_disc = [&](double x, double y) {
    return std::hypot(x - channel.centre[0], y - channel.centre[1]) < channel.radius + channel.edge;
  };
  TaylorHood scheme(flow.domain.as_mesh(), {.viscosity = viscosity,
                                            .boundary = inflow,
                                            .outlet = [&](double x, double) { return x > channel.length - margin; }});
  const auto require_calm = [&] {
    require<NumericalError>(scheme.fastest() <= too_fast * peak, name(), ": time=", scheme.time(),
                            " (the flow is faster than ", too_fast, " times its inflow: steps of ", scheme.step(),
                            " are too large). Give a smaller courant.");
  };
  const std::size_t rear = walls.size(), front = rear + disc.size() / 2;
  const double mean_inflow = peak * 2 / 3, unit_of_force = mean_inflow * mean_inflow * channel.radius;
  const double unit_of_divergence = peak * std::sqrt(flow.domain.volume()) / (2 * channel.radius);
  flow.departures = {0};
  flow.recorded = {{"drag", {}}, {"lift", {}}, {"pressure_difference", {}}};

  double now = 0;
  for (const double time : times) {
    const double gap = time - now;
    const double steps = gap > 0 ? std::max(1.0, std::ceil(gap / longest_step - 1e-9)) : 0;
    const double step = gap > 0 ? gap / steps : longest_step;
    if (flow.steps == 0) {
      flow.step = step;
      scheme.start_at_rest(0, step);
    } else if (std::abs(step - scheme.step()) > 1e-9 * step) {
      scheme.set_step(step);
    }
    for (double done = 0; done < steps; ++done) {
      scheme.advance();
      if (++flow.steps % steps_between_looks == 0) require_calm();
    }
    require_calm();
    now = time;

    flow.times.push_back(time);
    const std::vector<Point> velocity = scheme.velocity();
    const std::vector<double> pressure = scheme.pressure();
    for (std::size_t axis = 0; axis < 2; ++axis) {
      for (const Point& at : velocity) flow.frames.push_back(static_cast<float>(at[axis]));
    }
    for (const double at : pressure) flow.frames.push_back(static_cast<float>(at));
    flow.departures[0] = std::max(flow.departures[0], scheme.divergence() / unit_of_divergence);
    const Point force = scheme.force_on(is_disc);
    flow.recorded[0].values.push_back(force[0] / unit_of_force);
    flow.recorded[1].values.push_back(force[1] / unit_of_force);
    flow.recorded[2].values.push_back(pressure[front] - pressure[rear]);
  }
  return flow;
}

}  // namespace

std::unique_ptr<Trajectories> cylinder_flow() {
  return std::make_unique<CylinderFlow>(std::vector<Parameter>{
      {"length", 1.6, "of the channel, in metres"},
      {"height", 0.41, "of the channel"},
      {"viscosity", 1e-3, "kinematic, in square metres a second"},
      {"first_time", 0.1, "of the first frame, in seconds from rest"},
      {"last_time", 4.1, "of the last frame"},
      {"frames", 41, "of a trajectory, equally spaced"},
      {"lead", 0.2, "from the input of a sample to its target"},
      {"edge", 0.0075, "of the triangles at the disc"},
      {"ramp", 0.1, "time in which the inflow grows from 0 to its full speed"},
      {"courant", 0.2, "time step over the time in which the flow crosses an edge at the disc, at most"}});
}

}  // namespace opshap::pde
