#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>
template <int N> struct Deep {
    static std::map<int, std::string> make(int x) {
        auto made = Deep<N - 1>::make(x);
        std::regex digits("([0-9]+)" + std::to_string(N));
        made[N] = std::regex_replace(std::to_string(x * N), digits, "x");
        std::function<int(int)> f = [&](int y) { return y + int(made.size()); };
        std::unordered_map<std::string, std::variant<int, std::string>> t;
        t[made[N]] = f(N);
        return made;
    }
};
template <> struct Deep<0> {
    static std::map<int, std::string> make(int) { return {}; }
};
int main() { std::cout << Deep<150>::make(7).size(); }
