#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/cli11_fwd.hpp"
#include "cli/globals.hpp"
#include "core/game.hpp"
#include "core/operator.hpp"

namespace opshap::cli {

/// A program that stays and runs one command line after the other: `opshap serve`, which the Python package keeps so
/// that a call costs no start. It has the two pipes of opshap-peer/1 (peers/frame.hpp). From its side:
///
///     →  hello     protocol, name: "opshap", role: "server"
///     ←  run       id, words, folder (where relative paths begin), and with --game caller: players, gradients,
///                  max_batch
///     →  done      id, code: the exit code of that command line. Its output is written and flushed.
///     ←  bye
///
/// While a command runs whose game is the caller's, it asks the caller as peers::peer_game() asks a program: eval and
/// grad, answered by values, gradients or fail. Standard output and error are those of the process. A command line is
/// parsed afresh, with default options, threads and verbosity. `add` adds the command of that name.
///
/// Returns when the caller says goodbye or has closed its pipe. Throws DataError for bytes that are no frame.
void serve(const std::function<void(CLI::App& app, Globals& globals, const std::string& command)>& add);

/// Whether this process is one. Commands that would become another program are refused there.
bool is_kept();

/// The game of --game caller: the one that asks for the command. Throws InvalidArgument where there is none.
std::unique_ptr<Game> caller_game();

/// Answers the questions of peers::peer_operator() about an operator on grids, until the host says goodbye or closes
/// its pipe. Its pipes are those of peers::OwnPipes. An error of the operator
/// fails its question. Throws Malformed for bytes that are no frame.
void serve_operator(const Operator& op);

}  // namespace opshap::cli
