// Names of functions and files, as lines of backtraces have them.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "process_core_builder.h"
#include "report/form/file_display.h"
#include "report/short_names.h"

namespace whocall::test {
namespace {

TEST_CASE("report: arguments of templates are left out, scopes stay") {
  const auto shortest = [](std::string_view name) { return without_arguments(name, 0); };
  CHECK(shortest("main") == "main");
  CHECK(shortest("std::map<std::string, std::vector<char>>::find(int)") ==
        "std::map<...>::find(int)");
  CHECK(shortest("std::__invoke_impl<void, ns::(anonymous namespace)::f<long>(int)::{lambda()#1}>"
                 "(std::tuple<long, char>&)") == "std::__invoke_impl<...>(std::tuple<...>&)");
  CHECK(shortest("f<int>(char)") == "f<int>(char)");  // nothing is won
  CHECK(shortest("<alloc::vec::Vec<alloc::string::String> as core::ops::Drop>::drop") ==
        "<alloc::vec::Vec<...> as core::ops::Drop>::drop");
  CHECK(shortest("core::ptr::<impl core::fmt::Debug for T>::fmt") ==
        "core::ptr::<impl core::fmt::Debug for T>::fmt");
  CHECK(shortest("core::iter::map::<u8, std::string>::next") == "core::iter::map::<...>::next");
  CHECK(shortest("work(std::vector<long>)::<lambda(long int)>") ==
        "work(std::vector<...>)::<lambda(long int)>");
  CHECK(without_arguments("std::map<std::string, std::vector<char>>::find(int)", 1) ==
        "std::map<std::string, std::vector<...>>::find(int)");
}

TEST_CASE("report: names that are still long lose the type that is returned, then parameters") {
  const std::string_view name =
      "int ns::table<ns::key<long>, char>::visit<ns::f>(ns::f, std::vector<char> const&) const";
  CHECK(short_form(name, 0) ==
        "int ns::table<ns::key<...>, char>::visit<ns::f>(ns::f, std::vector<char> const&) const");
  CHECK(short_form(name, 1) ==
        "int ns::table<...>::visit<...>(ns::f, std::vector<...> const&) const");
  CHECK(short_form(name, 2) == "ns::table<...>::visit<...>(ns::f, std::vector<...> const&) const");
  CHECK(short_form(name, 3) == "ns::table<...>::visit<...>(...) const");
}

TEST_CASE("report: the type that is returned is left out where the name certainly begins") {
  CHECK(without_return_type("unsigned long f<char>(int)") == "f<char>(int)");
  CHECK(without_return_type("std::map<int, char> const& ns::f<char>()") == "ns::f<char>()");
  CHECK(without_return_type("void (anonymous namespace)::f<char>(int)") ==
        "(anonymous namespace)::f<char>(int)");
  CHECK(without_return_type("bool std::operator== <char>(char, char)") ==
        "std::operator== <char>(char, char)");
  for (const std::string_view name :
       {"f(int, char)", "ns::box::operator bool() const", "operator new(unsigned long)",
        "f() const::{lambda(int)#1}::operator()(int) const", "int (&f<char>(int))[3]",
        "non-virtual thunk to ns::box::f(int)", "vtable for ns::box", "guard variable for f()::x",
        "(anonymous namespace)::f(int)", "f(int) [clone .cold]", "decltype(auto) f<char>(int)",
        "type:.eq.struct { f func(int, int) }", "<T as core::ops::Fn<(A, B)>>::call", "f<char",
        "f(int"}) {
    CHECK(without_return_type(name) == name);
  }
}

TEST_CASE("report: types of parameters are left out, what is a name in parentheses stays") {
  CHECK(without_parameters("f(int, char const*)") == "f(...)");
  CHECK(without_parameters("f(int, void (*)(long)) const [clone .cold]") ==
        "f(...) const [clone .cold]");
  CHECK(without_parameters("main::{lambda(int, long)#1}::operator()(int, long) const") ==
        "main::{lambda(...)#1}::operator()(...) const");
  CHECK(without_parameters("ns::box::operator()() const") == "ns::box::operator()() const");
  CHECK(without_parameters("ns::operator+(ns::box, ns::box)") == "ns::operator+(...)");
  for (const std::string_view name :
       {"f(int)", "f()", "(anonymous namespace)::f()", "main.(*table).find",
        "-[Shop(Prices) total]", "shop.table.find(key: Swift.Int, or: Swift.Int) -> Swift.Int",
        "<fn(A, B) -> C as core::ops::Fn>::call", "work()::<lambda(long int)>", "f(int, long"}) {
    CHECK(without_parameters(name) == name);
  }
}

TEST_CASE("report: a short form stands for one name alone") {
  NameForms forms;
  for (const char* name : {"f<int>(int, char)", "f<int>(int, long)", "f<char>(int, long)",
                           "g<int>(int, char)", "int h<int>(long)", "char h<int>(long)"}) {
    forms.add(name);
    forms.add(name);
  }
  CHECK(forms.fit("f<int>(int, char)", 1) == "f<int>(int, char)");
  CHECK(forms.fit("g<int>(int, char)", 20) == "g<int>(int, char)");
  CHECK(forms.fit("g<int>(int, char)", 1) == "g<int>(...)");
  CHECK(forms.fit("int h<int>(long)", 1) == "int h<int>(long)");
}

TEST_CASE("report: signs of operators are no brackets") {
  const auto shortest = [](std::string_view name) { return without_arguments(name, 0); };
  CHECK(shortest("std::operator<< <std::char_traits<char> >(std::ostream&)") ==
        "std::operator<< <std::char_traits<...> >(std::ostream&)");
  CHECK(shortest("ns::list<ns::node>::operator->() const") == "ns::list<...>::operator->() const");
  CHECK(shortest("bool operator<(ns::list<ns::node> const&)") ==
        "bool operator<(ns::list<...> const&)");
  CHECK(shortest("box<&operator> >::get") == "box<...>::get");
  CHECK(shortest("my_operator<ns::node>()") == "my_operator<...>()");
  CHECK(shortest("broken<std::vector<int>") == "broken<std::vector<int>");
  CHECK(shortest("odd>name") == "odd>name");
}

TEST_CASE("report: brackets may lie as deep in one another as a file likes") {
  const auto nested = [](std::size_t depth) {
    std::string name;
    for (std::size_t i = 0; i < depth; ++i) {
      name += "a<";
    }
    return name.append(depth, '>').append("::f(int)");
  };
  CHECK(without_arguments(nested(4'000), 0) == "a<...>::f(int)");
  CHECK(without_parameters(nested(4'000).append("::g(long)")).ends_with(">::f(int)::g(...)"));
  const std::string longest = nested(1'000'000);
  for (unsigned form = 0; form < kNameForms; ++form) {
    CHECK(short_form(longest, form) == longest);
  }
}

TEST_CASE("report: modules are told by base names where these tell them apart") {
  std::vector<Module> modules(4);
  modules[0].path = "/opt/a/libx.so";
  modules[1].path = "/opt/b/libx.so";
  modules[2].path = "/opt/b/liby.so (deleted)";
  modules[3].path = "[vdso]";
  const auto told = [&](FileDisplay display) {
    FileNames names(display, modules);
    std::vector<std::string> all;
    for (const Module& module : modules) {
      all.emplace_back(names.module(module));
    }
    all.emplace_back(names.source("src/deep/t.c", "/no/such/build"));
    return all;
  };
  using All = std::vector<std::string>;
  CHECK(told(FileDisplay::relative) ==
        All{"/opt/a/libx.so", "/opt/b/libx.so", "liby.so (deleted)", "[vdso]", "src/deep/t.c"});
  CHECK(told(FileDisplay::basename).back() == "t.c");
  CHECK(told(FileDisplay::absolute) == All{"/opt/a/libx.so", "/opt/b/libx.so",
                                           "/opt/b/liby.so (deleted)", "[vdso]",
                                           "/no/such/build/src/deep/t.c"});
}

TEST_CASE("report: absolute paths stay where there is no room for them") {
  CHECK(FileNames(FileDisplay::relative, {}).narrow("/opt/a/libx.so") == "libx.so");
  CHECK(FileNames(FileDisplay::absolute, {}).narrow("/opt/a/libx.so") == "/opt/a/libx.so");
}

TEST_CASE("report: absolute paths of sources are those that gdb has") {
  const testing::TemporaryDirectory directory;
  const std::string file = directory.write("t.c", {});
  const std::string folder = file.substr(0, file.rfind('/'));
  CHECK(absolute_source("t.c", folder) == file);
  CHECK(absolute_source("./t.c", folder) == file);
  CHECK(absolute_source(folder + "/../" + folder.substr(folder.rfind('/') + 1) + "/t.c", "/x") ==
        file);
  // Of files that are not there nobody knows which are links.
  CHECK(absolute_source("../src/t.c", "/no/such/build") == "/no/such/build/../src/t.c");
  CHECK(absolute_source("t.c", {}) == "t.c");
  CHECK(absolute_source("./nptl/t.c", "./nptl") == "./nptl/./nptl/t.c");
}

}  // namespace
}  // namespace whocall::test
