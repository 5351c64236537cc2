// Times Pinocchio's algorithms on one fixed-base arm. Header-only, so that the compiler may use every instruction of
// this processor. Input (standard input): number of joints, then per joint: parent, kind (R or P), axis, placement
// (rotation row by row, translation), mass, centre of mass, inertia about it (xx xy yy xz yz zz); then gravity.
// Arguments: evaluations per window, milliseconds per function. Output: one line "name nanoseconds" per function, and "check" with the torques of the first state.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#if __has_include(<pinocchio/multibody.hpp>)
#include <pinocchio/multibody.hpp>
#else  // before version 4
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/model.hpp>
#endif
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

using namespace pinocchio;
using Clock = std::chrono::steady_clock;
using Vector = Eigen::VectorXd;

template <class T> static void keep(const T &value) { asm volatile("" : : "g"(&value) : "memory"); }

static int window = 128;        // evaluations in a window: a fraction of a millisecond
static int milliseconds = 400;  // for all windows of one function

template <class Call> static void report(const char *name, Call call) {
  double best = 1e300;
  const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
  do {
    const auto begin = Clock::now();
    for (int k = 0; k < window; ++k) call(k & 63);
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / window);
  } while (Clock::now() < end);
  std::printf("%s %.2f\n", name, best);
}

static Model read_model() {
  Model model;
  int n = 0;
  std::cin >> n;
  for (int i = 0; i < n; ++i) {
    int parent;
    std::string kind;
    Eigen::Vector3d axis, p, c;
    Eigen::Matrix3d R;
    double mass, s[6];
    std::cin >> parent >> kind >> axis[0] >> axis[1] >> axis[2];
    for (int r = 0; r < 3; ++r)
      for (int k = 0; k < 3; ++k) std::cin >> R(r, k);
    std::cin >> p[0] >> p[1] >> p[2] >> mass >> c[0] >> c[1] >> c[2];
    for (double &value : s) std::cin >> value;
    const SE3 placement(R, p);
    const std::string name = "joint" + std::to_string(i);
    const bool x = axis.isApprox(Eigen::Vector3d::UnitX()), y = axis.isApprox(Eigen::Vector3d::UnitY()),
               z = axis.isApprox(Eigen::Vector3d::UnitZ());
    JointIndex joint;
    if (kind == "R") {
      if (x) joint = model.addJoint(parent, JointModelRX(), placement, name);
      else if (y) joint = model.addJoint(parent, JointModelRY(), placement, name);
      else if (z) joint = model.addJoint(parent, JointModelRZ(), placement, name);
      else joint = model.addJoint(parent, JointModelRevoluteUnaligned(axis), placement, name);
    } else {
      if (x) joint = model.addJoint(parent, JointModelPX(), placement, name);
      else if (y) joint = model.addJoint(parent, JointModelPY(), placement, name);
      else if (z) joint = model.addJoint(parent, JointModelPZ(), placement, name);
      else joint = model.addJoint(parent, JointModelPrismaticUnaligned(axis), placement, name);
    }
    Eigen::Matrix3d inertia;
    inertia << s[0], s[1], s[3], s[1], s[2], s[4], s[3], s[4], s[5];
    model.appendBodyToJoint(joint, Inertia(mass, c, inertia), SE3::Identity());
  }
  double g[3];
  std::cin >> g[0] >> g[1] >> g[2];
  model.gravity.linear() = Eigen::Vector3d(g[0], g[1], g[2]);
  return model;
}

int main(int argc, char **argv) {
  if (argc > 1) window = std::max(1, std::atoi(argv[1]));
  if (argc > 2) milliseconds = std::max(1, std::atoi(argv[2]));
  const Model model = read_model();
  Data data(model);
  const int n = model.nv;
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> uniform(-2.0, 2.0);
  std::vector<Vector> q(64, Vector(n)), v(64, Vector(n)), a(64, Vector(n));
  for (int k = 0; k < 64; ++k)
    for (int i = 0; i < n; ++i) q[k][i] = uniform(generator), v[k][i] = uniform(generator), a[k][i] = uniform(generator);
  for (int i = 0; i < n; ++i) q[0][i] = 0.1 * (i + 1), v[0][i] = 0.2 * (i + 1), a[0][i] = 0.3 * (i + 1);
  std::printf("check");
  const Vector tau = rnea(model, data, q[0], v[0], a[0]);
  for (int i = 0; i < n; ++i) std::printf(" %.17g", tau[i]);
  std::printf("\n");
  report("inverse_dynamics", [&](int k) { keep(rnea(model, data, q[k], v[k], a[k])); });
  report("mass_matrix", [&](int k) { keep(crba(model, data, q[k], Convention::WORLD)); });
  report("mass_matrix_local", [&](int k) { keep(crba(model, data, q[k], Convention::LOCAL)); });
  report("forward_dynamics", [&](int k) { keep(aba(model, data, q[k], v[k], a[k], Convention::WORLD)); });
  report("forward_dynamics_local", [&](int k) { keep(aba(model, data, q[k], v[k], a[k], Convention::LOCAL)); });
  report("inverse_dynamics_derivatives", [&](int k) { computeRNEADerivatives(model, data, q[k], v[k], a[k]); keep(data); });
  report("forward_dynamics_derivatives", [&](int k) { computeABADerivatives(model, data, q[k], v[k], a[k]); keep(data); });
  report("forward_kinematics", [&](int k) { forwardKinematics(model, data, q[k]); keep(data); });
  return 0;
}
