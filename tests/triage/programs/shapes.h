#pragma once
#include <memory>
#include <string>
#include <vector>

struct Shape {
  explicit Shape(std::string name) : name_(std::move(name)) {}
  virtual ~Shape() = default;
  virtual double area() const = 0;
  virtual int corners() const = 0;
  const std::string &name() const { return name_; }

 private:
  std::string name_;
};

struct Square : Shape {
  explicit Square(double side) : Shape("square"), side_(side) {}
  double area() const override;
  int corners() const override;
  double side_;
};

struct Polygon : Shape {
  explicit Polygon(int n) : Shape("polygon"), points_(static_cast<size_t>(n)) {}
  double area() const override;
  int corners() const override;
  double at(size_t index) const;
  std::vector<double> points_;
};

struct Scene {
  std::vector<std::unique_ptr<Shape>> shapes;
  Shape *selected = nullptr;
  Shape *hidden[4] = {};
};

void fill(Scene &scene, unsigned seed);
Shape *shape_at(Scene &scene, size_t index);
