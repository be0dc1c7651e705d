// Five bugs with containers.
#include "textidx.h"

#include "jobs.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

// Bug: a word that no document has.
int score(const Index &index, const std::vector<std::string> &query) {
  int total = 0;
  for (const auto &word : query) total += index.postings(word)->position * 2 + 1;
  return total;
}

int searching(unsigned seed) {
  Index index;
  read_sample(index, seed);
  std::printf("score %d\n", score(index, {"fox", "quick", "unicorn" + std::to_string(seed)}));
  return 0;
}

// Bug: a word that the map does not have, by an exception.
double rarity(const Index &index, const std::string &word) {
  return 1.0 / (1 + index.frequency(word));
}

int weighing(unsigned seed) {
  Index index;
  read_sample(index, seed);
  double sum = 0;
  for (const char *word : {"fox", "dogs", "platypus"}) sum += rarity(index, word);
  std::printf("rarity %.3f\n", sum);
  return 0;
}

// Bug: the environment has no such word.
int filtering(unsigned seed) {
  int kept = 0;
  const char *names[] = {"HOME", "PATH", "WORDS_TO_KEEP_OUT"};
  for (const char *name : names) kept += !is_stop_word(std::getenv(name));
  std::printf("%d words stay, of seed %u\n", kept, seed);
  return kept;
}

// Bug: a position in a text that is shorter, by an exception of strings.
std::string excerpt(const std::string &text, size_t position) {
  return "..." + text.substr(position, 10) + "...";
}

int quoting(unsigned seed) {
  std::string text(20 + seed % 20, 'x');
  std::puts(excerpt(text, 64 + seed).c_str());
  return 0;
}

// Bug: a comparison that reads where nothing is, inside of the library's sorting.
struct Ranked {
  const Posting *posting;
  double weight;
};

bool ranks_before(const Ranked &a, const Ranked &b) {
  return a.posting->document < b.posting->document ||
         (a.posting->document == b.posting->document && a.weight > b.weight);
}

int sorting(unsigned seed) {
  Index index;
  read_sample(index, seed);
  std::vector<Ranked> ranked;
  for (const auto &word : index.words()) ranked.push_back({index.postings(word), 0.5});
  ranked.push_back({nullptr, 9.0});
  std::sort(ranked.begin(), ranked.end(), ranks_before);
  std::printf("first document %d\n", ranked.front().posting->document);
  return 0;
}

}  // namespace

extern "C" const Job jobs[] = {searching, weighing, filtering, quoting, sorting};
extern "C" const unsigned job_count = sizeof jobs / sizeof *jobs;
