#pragma once

// First, or Clang 14 rejects the headers of LibTorch 1.13 in C++20.
#include <ATen/core/ivalue.h>

// The only place with LibTorch's headers; precompiled for the folders that use it. <torch/torch.h> would take three
// times as long.
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/cuda.h>
#include <torch/types.h>
#include <torch/version.h>
