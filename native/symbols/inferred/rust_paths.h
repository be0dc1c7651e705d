// What the paths tell that Rust's compiler writes into panics.
#pragma once

#include <string>
#include <string_view>

namespace whocall {

// Whether the file is of the standard library or of a crate that is built into it:
// "/rustc/HASH/library/core/src/option.rs", ".../rustlib/src/rust/library/...", "/rust/deps/...".
bool is_standard_rust(std::string_view path);

// "regex" of "/cargo/registry/src/index.crates.io-6f17d22bba15001f/regex-1.9.1/src/exec.rs", "core"
// of the standard library's; empty where the path does not tell (the program's own: "src/main.rs").
std::string crate_of_path(std::string_view path);

// "exec" of the same, "output::table" of "src/output/table.rs"; empty for the root of a crate.
std::string module_of_path(std::string_view path);

// What a reader needs of it: "regex-1.9.1/src/exec.rs", "core/src/option.rs".
std::string_view short_rust_path(std::string_view path);

}  // namespace whocall
