#pragma once

#include <filesystem>
#include <memory>

#include "core/operator.hpp"
#include "peers/plugin.hpp"

namespace opshap::peers {

/// A program in any language as an operator on regular grids: a PyTorch, JAX or ONNX model stays where it is. The
/// protocol opshap-peer/1 with the roles reversed. From the peer's side, all numbers in payloads float64:
///
///     →  hello     protocol, name, version, role: "operator", dimension, input_channels, output_channels,
///                  gradients: true where it has them, max_batch
///     ←  apply     id, count, shape + [count, Cin, points]      →  fields     id, count + [count, Cout, points]
///     ←  vjp       id, count, shape, point, channel
///                  + [count, Cin, points]                       →  gradients  id, count + [count], the same
///     ←  scenario  id, shape, players, point, channel
///                  + input [Cin, points], baseline [Cin, points], player of each point [points]   →  ready  id
///     ←  eval      id, count + coalitions                       →  values     id, count + [count]
///     →  fail      id, reason: in place of any answer
///     ←  bye
///
/// `shape` is n or nx, ny, `point` the number of the explained point (row-major) and `channel` its output channel.
/// The answer `gradients` holds the values there, and their derivatives by the inputs. A game of the operator sends its
/// field once, as the scenario. Then it sends coalitions alone, of 128 bytes each at n = 1024, and they are about the
/// last scenario. The value of S is the operator's answer at the point where the players of S show the input and the
/// others the baseline. A question asks for at most max_batch fields or coalitions (256 where the greeting does not
/// say), and for what fits into a payload.
///
/// An operator that is asked for gradients and has none throws InvalidArgument; one on a mesh likewise. Evaluating
/// throws Failure when the program fails or takes longer than limits.seconds for a question; it is not started again.
/// Threads wait for each other. Throws the same here, DataError for a folder without a plugin, and InvalidArgument for
/// a plugin that is no operator.
std::unique_ptr<Operator> peer_operator(const std::filesystem::path& folder);
/// The same of a program that no plugin.toml describes.
std::unique_ptr<Operator> peer_operator(Plugin plugin);

}  // namespace opshap::peers
