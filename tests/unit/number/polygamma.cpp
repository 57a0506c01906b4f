// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <strop/number/dual.hpp>
#include <strop/number/lanes.hpp>
#include <strop/number/polygamma.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

using strop::number::polygamma;

constexpr double relative(double a, double b) {
  const double difference = a < b ? b - a : a - b, size = b < 0 ? -b : b;
  return difference / size;
}

// Exact values: ψ′(1) = π²/6, ψ″(1) = −2 ζ(3), ψ‴(1) = π⁴/15, ψ⁗(1) = −24 ζ(5), ψ′(½) = π²/2.
static_assert(relative(polygamma(1, 1), 1.6449340668482264) < 1e-15);
static_assert(relative(polygamma(2, 1), -2.4041138063191886) < 1e-15);
static_assert(relative(polygamma(3, 1), 6.4939394022668291) < 1e-15);
static_assert(relative(polygamma(4, 1), -24.886266123440879) < 1e-15);
static_assert(relative(polygamma(1, 0.5), 4.9348022005446793) < 1e-15);
static_assert(relative(polygamma(0, 1), -0.57721566490153286) < 1e-15);

}  // namespace

TEST_CASE("polygamma agrees with values of 30 digits") {
  struct Row {
    int n;
    double x, value;
  };
  constexpr Row rows[] = {
      {0, 1e-05, -100000.57719921567},
      {0, 0.1, -10.423754940411076},
      {0, 0.5, -1.9635100260214235},
      {0, 1.4616, -3.110625123034165e-5},
      {0, 3.25, 1.016990911068179},
      {0, 10.0, 2.2517525890667211},
      {0, 23.9, 3.1528120932286021},
      {0, 24.5, 3.1781261463533075},
      {0, 1000.0, 6.9072551956488121},
      {0, 100000000.0, 18.420680738952365},
      {0, -0.3, 2.1133097796353989},
      {0, -0.5001, 0.035596489582304066},
      {0, -1.25, 3.7141391202135278},
      {0, -4.75, -1.4818622825218567},
      {0, -30.1, 13.089872489665068},
      {1, 1e-05, 10000000001.644908},
      {1, 0.1, 101.43329915079275},
      {1, 0.5, 4.9348022005446793},
      {1, 1.4616, 0.96770071146508355},
      {1, 3.25, 0.35979829030957988},
      {1, 10.0, 0.10516633568168575},
      {1, 23.9, 0.042728543026354512},
      {1, 24.5, 0.041660642161016485},
      {1, 1000.0, 0.0010005001666666333},
      {1, 100000000.0, 1.000000005e-8},
      {1, -0.3, 13.945160267805722},
      {1, -0.5001, 8.934886047255201},
      {1, -1.25, 19.181879647671606},
      {1, -4.75, 19.549301390239464},
      {1, -30.1, 103.32316227902109},
      {2, 1e-05, -2000000000000001.9},
      {2, 0.1, -2001.8614573783437},
      {2, 0.5, -16.82879664423432},
      {2, 1.4616, -0.88557619679990337},
      {2, 3.25, -0.12815694713911512},
      {2, 10.0, -0.011049834970802067},
      {2, 23.9, -0.0018254509358795513},
      {2, 24.5, -0.0017353583523153327},
      {2, 1000.0, -1.0010004999998333e-6},
      {2, 100000000.0, -1.00000001e-16},
      {2, -0.3, 67.63908119988316},
      {2, -0.5001, -0.8481375732708199},
      {2, -1.25, 123.72136678366236},
      {2, -4.75, -124.0610655213093},
      {2, -30.1, 1998.6585926541116},
      {3, 1e-05, 5.999999999999998e+20},
      {3, 0.1, 60004.512876790253},
      {3, 0.5, 97.409091034002437},
      {3, 1.4616, 1.5511250508129752},
      {3, 3.25, 0.090433355324655739},
      {3, 10.0, 0.0023199013042898684},
      {3, 23.9, 0.00015595033153188463},
      {3, 24.5, 0.00014455052947615246},
      {3, 1000.0, 2.003001999999e-9},
      {3, 100000000.0, 2.0000000300000002e-24},
      {3, -0.3, 766.61989041916858},
      {3, -0.5001, 193.40951531457084},
      {3, -1.25, 1558.2209125348506},
      {3, -4.75, 1558.5318783056006},
      {3, -30.1, 60014.251821116217},
      {4, 1e-05, -2.399999999999999e+26},
      {4, 0.1, -2400015.6072031952},
      {4, 0.5, -771.47424982666723},
      {4, 1.4616, -3.9350408775602429},
      {4, 3.25, -0.094871919953750832},
      {4, 10.0, -0.00072993116823528663},
      {4, 23.9, -1.9981488570202482e-5},
      {4, 24.5, -1.8058382297573532e-5},
      {4, 1000.0, -6.012009999993e-12},
      {4, 100000000.0, -6.000000120000001e-32},
      {4, -0.3, 9731.8349562335204},
      {4, -0.5001, -5.0113618289303545},
      {4, -1.25, 24481.063714184583},
      {4, -4.75, -24481.582451925003},
      {4, -30.1, 2399973.8347500156},
  };
  for (const Row& row : rows) {
    CAPTURE(row.n);
    CAPTURE(row.x);
    CHECK(relative(polygamma(row.n, row.x), row.value) < 1e-12);
  }
}

TEST_CASE("poles, infinities and orders that it does not serve") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(polygamma(1, 0.0) == infinity);
  CHECK(polygamma(2, 0.0) == -infinity);
  CHECK(polygamma(2, -0.0) == infinity);
  CHECK(polygamma(3, -2.0) == infinity);
  CHECK(std::isnan(polygamma(2, -2.0)));
  CHECK(polygamma(1, infinity) == 0);
  CHECK(std::isnan(polygamma(1, -infinity)));
  CHECK(std::isnan(polygamma(2, std::numeric_limits<double>::quiet_NaN())));
  CHECK(std::isnan(polygamma(5, 1.0)));
  CHECK(std::isnan(polygamma(-1, 1.0)));
}

TEST_CASE("numbers, lanes and duals have it") {
  using namespace strop::number;
  CHECK(polygamma(1, Num<double>(2.5)).v == polygamma(1, 2.5));
  CHECK(polygamma(1, Num<float>(2.5f)).v == static_cast<float>(polygamma(1, 2.5)));
  CHECK(polygamma(1, Num<std::int64_t>(2)).v == polygamma(1, 2.0));
  using V = Rep<Vec<float>>;
  float in[V::lanes], out[V::lanes];
  for (int i = 0; i < V::lanes; ++i) in[i] = 0.25f + static_cast<float>(i);
  V::store(out, polygamma(2, Num<Vec<float>>::of(V::load(in))).v);
  for (int i = 0; i < V::lanes; ++i) CHECK(out[i] == static_cast<float>(polygamma(2, static_cast<double>(in[i]))));
  const Dual<Num<double>> d = polygamma(1, Dual<Num<double>>(Num<double>(1.5), Num<double>(1)));
  CHECK(d.v.v == polygamma(1, 1.5));
  CHECK(d.d.v == polygamma(2, 1.5));
}
