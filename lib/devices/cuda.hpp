#pragma once

#include <memory>
#include <string>
#include <vector>

#include "devices/fno_kernels.hpp"

namespace opshap::devices {

/// What NVRTC made of a text: a program of one GPU architecture, and what it said of it: registers, spills, shared
/// memory.
struct Compiled {
  std::vector<char> cubin;
  std::string log;
};

/// Compiles files of which the first one is the kernel's for an architecture such as "sm_90a". NVRTC is opened when it
/// is first needed: that of OPSHAP_NVRTC, or the one that came with LibTorch, or that the system knows. No GPU is
/// needed. Throws EnvironmentError where there is no NVRTC, or the text does not compile.
Compiled compile(const std::vector<SourceFile>& files, std::vector<std::string> options,
                 const std::string& architecture);

/// The kernel of an FNO on one GPU, in the context that LibTorch has there. Programs are compiled when they are first
/// needed and kept in the user's cache folder. Safe to use from several threads.
class CudaFno {
 public:
  /// `device`: the number of the GPU. Throws EnvironmentError where there is no driver or no such GPU.
  explicit CudaFno(int device);
  ~CudaFno();

  long long shared_floats() const;
  /// How many blocks run at once.
  long long blocks() const;
  /// Starts the kernel in the default stream. Pointers are of the device; the workspace has room for all blocks. Throws
  /// EnvironmentError as compile(), and where the driver refuses it.
  void start(const FnoArguments& of, Arithmetic arithmetic) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace opshap::devices
