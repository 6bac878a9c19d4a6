// SPDX-License-Identifier: Apache-2.0
// Errors: exceptions that say who, what, got, expected.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace lssm {

// Base of everything lssm throws on purpose. The message is one line, meant for the user; the kind
// decides the exit code of the program.
class Error : public std::runtime_error {
 public:
  enum class Kind { usage = 2, file = 3, numeric = 4 };

  Error(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

// Joins its arguments with operator<<: text("got ", 3, " numbers").
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// The caller or the config asked for something that cannot be.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw Error(Error::Kind::usage, text(parts...));
}

// A file could not be read or written.
template <class... Parts>
[[noreturn]] void fail_file(const Parts&... parts) {
  throw Error(Error::Kind::file, text(parts...));
}

// A number that must be finite is not, or a numerical check failed.
template <class... Parts>
[[noreturn]] void fail_numeric(const Parts&... parts) {
  throw Error(Error::Kind::numeric, text(parts...));
}

}  // namespace lssm

// Checks what the caller promised; the message names the function: "matmul: inner sizes differ, …".
#define LSSM_CHECK(condition, ...)               \
  do {                                           \
    if (!(condition)) ::lssm::fail(__VA_ARGS__); \
  } while (false)
