// Which instruction set is used, and the kernels that have a door of their own.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

namespace adamerge {

// The best set of this machine, or the one of that name; refuses a name that the machine has not.
std::string instruction_set_named(const std::optional<std::string>& name);

// Adds maxsim_planes to the module.
void bind_planes(nanobind::module_& module);

// Adds widen and narrow.
void bind_convert(nanobind::module_& module);

}  // namespace adamerge
