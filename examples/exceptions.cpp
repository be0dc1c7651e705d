// An exception that nobody catches: std::terminate aborts below the frame that threw.
// Exceptions need unwind tables, so gdb has the right frames, but no names except from libraries.
// whocall gives every function of the program a start and a name to go on with.
//
// Build: g++ -O2 -o exceptions exceptions.cpp
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};

struct Square : Shape {
  explicit Square(double edge) : edge(edge) {}
  NOINLINE double area() const override { return edge * edge; }
  double edge;
};

struct Circle : Shape {
  explicit Circle(double radius) : radius(radius) {}
  NOINLINE double area() const override {
    if (radius < 0) throw std::domain_error("a circle of radius " + std::to_string(radius));
    return 3.14159 * radius * radius;
  }
  double radius;
};

using Drawing = std::vector<std::unique_ptr<Shape>>;

NOINLINE double total_area(const Drawing& drawing) {
  double sum = 0;
  for (const auto& shape : drawing) sum += shape->area();
  return sum;
}

NOINLINE double paint_needed(const Drawing& drawing) { return total_area(drawing) / 12 + 0.5; }

int main() {
  Drawing drawing;
  drawing.push_back(std::make_unique<Square>(2));
  drawing.push_back(std::make_unique<Circle>(-1));
  return paint_needed(drawing) > 0;
}
