#include "devices/cuda.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <span>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"

namespace opshap::devices {

namespace {

namespace fs = std::filesystem;

/// The first of these libraries that can be opened; null where none can.
void* opened(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

template <typename Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  require<EnvironmentError>(function != nullptr, "cuda: function=", name,
                            " (the library that was found does not have it). Use CUDA 12 or later.");
}

/// Where the CUDA runtime lies that this process has loaded, and NVRTC with it; empty where there is none.
fs::path folder_of_runtime() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path != std::string::npos && line.find("/libcudart.so", path) != std::string::npos)
      return fs::path(line.substr(path)).parent_path();
  }
  return {};
}

/// The part of NVRTC that is used.
struct Nvrtc {
  using Program = void*;
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, std::size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;

  static const Nvrtc& get() {
    static const Nvrtc nvrtc;
    return nvrtc;
  }

 private:
  Nvrtc() {
    const char* given = std::getenv("OPSHAP_NVRTC");
    std::vector<std::string> names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    if (const fs::path beside = folder_of_runtime(); !beside.empty())
      for (const char* name : {"libnvrtc.so.12", "libnvrtc.so.13"})
        names.insert(names.begin(), (beside / name).string());
    void* library = given != nullptr ? opened({given}) : opened(names);
    require<EnvironmentError>(library != nullptr, "cuda: nvrtc=", given != nullptr ? given : "libnvrtc.so",
                              " (cannot be opened). Install it, or say with OPSHAP_NVRTC where it is.");
    find(library, "nvrtcCreateProgram", create);
    find(library, "nvrtcCompileProgram", compile);
    find(library, "nvrtcDestroyProgram", destroy);
    find(library, "nvrtcGetProgramLogSize", log_size);
    find(library, "nvrtcGetProgramLog", log);
    find(library, "nvrtcGetCUBINSize", cubin_size);
    find(library, "nvrtcGetCUBIN", cubin);
  }
};

/// The part of the driver that is used.
struct Driver {
  using Handle = void*;
  int (*init)(unsigned) = nullptr;
  int (*device)(int*, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  int (*retain)(Handle*, int) = nullptr;
  int (*make_current)(Handle) = nullptr;
  int (*load)(Handle*, const void*) = nullptr;
  int (*function)(Handle*, Handle, const char*) = nullptr;
  int (*set_attribute)(Handle, int, int) = nullptr;
  int (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**,
                void**) = nullptr;

  static const Driver& get() {
    static const Driver driver;
    return driver;
  }

 private:
  Driver() {
    void* library = opened({"libcuda.so.1"});
    require<EnvironmentError>(library != nullptr,
                              "cuda: driver=libcuda.so.1 (cannot be opened). Use a machine with an NVIDIA GPU.");
    find(library, "cuInit", init);
    find(library, "cuDeviceGet", device);
    find(library, "cuDeviceGetAttribute", attribute);
    find(library, "cuDevicePrimaryCtxRetain", retain);
    find(library, "cuCtxSetCurrent", make_current);
    find(library, "cuModuleLoadData", load);
    find(library, "cuModuleGetFunction", function);
    find(library, "cuFuncSetAttribute", set_attribute);
    find(library, "cuLaunchKernel", launch);
  }
};

void check(int code, const char* what) {
  require<EnvironmentError>(code == 0, "cuda: ", what, "=error ", code,
                            " (the driver refused it). Look up the number in the CUDA driver's list of errors.");
}

/// Where compiled kernels are kept between runs; empty where the user has no such folder.
fs::path cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return fs::path(cache) / "opshap" / "kernels";
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? fs::path() : fs::path(home) / ".cache" / "opshap" / "kernels";
}

}  // namespace

Compiled compile(const std::vector<SourceFile>& files, std::vector<std::string> options,
                 const std::string& architecture) {
  const Nvrtc& nvrtc = Nvrtc::get();
  std::vector<const char*> texts, names, words;
  for (const SourceFile& file : std::span(files).subspan(1)) {
    texts.push_back(file.text);
    names.push_back(file.name);
  }
  options.push_back("--gpu-architecture=" + architecture);
  options.emplace_back("--ptxas-options=-v");  // so that the log says what a kernel uses
  for (const std::string& option : options) words.push_back(option.c_str());
  Nvrtc::Program program = nullptr;
  check(nvrtc.create(&program, files.front().text, files.front().name, static_cast<int>(texts.size()), texts.data(),
                     names.data()),
        "nvrtcCreateProgram");
  const int failed = nvrtc.compile(program, static_cast<int>(words.size()), words.data());
  Compiled result;
  std::size_t size = 0;
  if (nvrtc.log_size(program, &size) == 0 && size > 1) {
    result.log.resize(size);
    nvrtc.log(program, result.log.data());
    result.log.resize(size - 1);
  }
  if (failed == 0 && nvrtc.cubin_size(program, &size) == 0) {
    result.cubin.resize(size);
    nvrtc.cubin(program, result.cubin.data());
  }
  nvrtc.destroy(&program);
  require<EnvironmentError>(!result.cubin.empty(), "cuda: kernel=", files.front().name, " for ", architecture,
                            " (does not compile: ", result.log.substr(0, 400), "). Use another version of NVRTC.");
  return result;
}

struct CudaFno::State {
  Driver::Handle context = nullptr;
  int processors = 0, shared_bytes = 0;
  std::string architecture;
  std::mutex mutex;
  std::map<std::string, Driver::Handle> functions;  ///< by their options
};

CudaFno::CudaFno(int device) : state_(std::make_unique<State>()) {
  constexpr int multiprocessors = 16, major = 75, minor = 76, shared_of_block = 97;  // of cuda.h
  const Driver& driver = Driver::get();
  check(driver.init(0), "cuInit");
  int handle = 0, first = 0, second = 0;
  check(driver.device(&handle, device), "cuDeviceGet");
  check(driver.attribute(&state_->processors, multiprocessors, handle), "cuDeviceGetAttribute");
  check(driver.attribute(&state_->shared_bytes, shared_of_block, handle), "cuDeviceGetAttribute");
  check(driver.attribute(&first, major, handle), "cuDeviceGetAttribute");
  check(driver.attribute(&second, minor, handle), "cuDeviceGetAttribute");
  check(driver.retain(&state_->context, handle), "cuDevicePrimaryCtxRetain");
  require<EnvironmentError>(first >= 8, "cuda: compute capability=", first, ".", second,
                            " (its tensor cores have no TF32). Give --precision float32.");
  state_->architecture = message("sm_", first, second, first == 9 ? "a" : "");
}

CudaFno::~CudaFno() = default;

long long CudaFno::shared_floats() const { return state_->shared_bytes / static_cast<int>(sizeof(float)); }

long long CudaFno::blocks() const { return state_->processors; }

void CudaFno::start(const FnoArguments& of, Arithmetic arithmetic) const {
  constexpr int most_dynamic_shared = 8;  // of cuda.h
  const Driver& driver = Driver::get();
  const auto bytes = static_cast<unsigned>(of.shared_floats * static_cast<long long>(sizeof(float)));
  const std::lock_guard lock(state_->mutex);
  check(driver.make_current(state_->context), "cuCtxSetCurrent");
  std::vector<std::string> options = fno_options(of, arithmetic);
  std::string key = state_->architecture;
  for (const std::string& option : options) key += ' ' + option;
  auto& function = state_->functions[key];
  if (function == nullptr) {
    std::string all = key;
    for (const SourceFile& file : fno_source()) all += file.text;
    const fs::path folder = cache_folder(), kept = folder / (xxh64(all) + ".cubin");
    std::string cubin;
    if (!folder.empty() && is_there(kept)) {
      cubin = read_file(kept);
    } else {
      const Compiled compiled = compile(fno_source(), options, state_->architecture);
      cubin.assign(compiled.cubin.begin(), compiled.cubin.end());
      if (!folder.empty()) {
        make_folder(folder);
        write_file(kept, cubin);
      }
    }
    Driver::Handle module = nullptr;
    check(driver.load(&module, cubin.data()), "cuModuleLoadData");
    check(driver.function(&function, module, "opshap_fno"), "cuModuleGetFunction");
    check(driver.set_attribute(function, most_dynamic_shared, state_->shared_bytes), "cuFuncSetAttribute");
  }
  const long long groups = (of.count + of.group - 1) / of.group;
  FnoArguments arguments = of;
  void* parameters[] = {&arguments};
  check(driver.launch(function, static_cast<unsigned>(std::min(groups, blocks())), 1, 1, threads_of_block, 1, 1, bytes,
                      nullptr, parameters, nullptr),
        "cuLaunchKernel");
}

}  // namespace opshap::devices
