// Five bugs with virtual functions and exceptions.
#include "shapes.h"

#include "jobs.h"

#include <cstdio>
#include <stdexcept>

namespace {

// Bug: one shape past the last.
double sum_of_areas(Scene &scene, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += shape_at(scene, i)->area();
  return sum;
}

int measuring(unsigned seed) {
  Scene scene;
  fill(scene, seed);
  std::printf("area %.2f\n", sum_of_areas(scene, scene.shapes.size() + 1));
  return 0;
}

// Bug: an index that the library refuses with an exception.
double mean_point(const Polygon &polygon, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += polygon.at(static_cast<size_t>(i));
  return sum / count;
}

int averaging(unsigned seed) {
  Polygon polygon(5 + static_cast<int>(seed % 6));
  std::printf("mean %.3f of %s\n", mean_point(polygon, 64), polygon.name().c_str());
  return 0;
}

// Bug: nobody catches what this throws.
void validate(const Scene &scene, unsigned limit) {
  if (scene.shapes.size() > limit)
    throw std::runtime_error("scene has " + std::to_string(scene.shapes.size()) + " shapes");
}

int validating(unsigned seed) {
  Scene scene;
  fill(scene, seed);
  validate(scene, 2 + seed % 3);
  std::puts("valid");
  return 0;
}

// Bug: nothing is selected.
std::string describe_selection(const Scene &scene) {
  std::string text = "selected: ";
  text += scene.selected->name();
  text += scene.selected->corners() > 4 ? " (many corners)" : " (few corners)";
  return text;
}

int selecting(unsigned seed) {
  Scene scene;
  fill(scene, seed);
  std::puts(describe_selection(scene).c_str());
  return 0;
}

// Bug: a virtual function of something that is no shape.
int corners_of_hidden(const Scene &scene) {
  int corners = 0;
  for (auto *shape : scene.hidden)
    if (shape != nullptr) corners += shape->corners() * 17;
  return corners;
}

int hiding(unsigned seed) {
  Scene scene;
  fill(scene, seed);
  static unsigned long junk[8];
  for (auto &word : junk) word = 0x4242424242420000UL + seed;
  scene.hidden[seed % 4] = reinterpret_cast<Shape *>(junk);
  std::printf("hidden corners: %d\n", corners_of_hidden(scene));
  return 0;
}

}  // namespace

extern "C" const Job jobs[] = {measuring, averaging, validating, selecting, hiding};
extern "C" const unsigned job_count = sizeof jobs / sizeof *jobs;
