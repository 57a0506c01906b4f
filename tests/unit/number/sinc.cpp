// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <strop/number/dual.hpp>
#include <strop/number/lanes.hpp>
#include <strop/number/sinc.hpp>

#include <cmath>
#include <limits>

using strop::number::sinc_derivative;

static_assert(sinc_derivative(0, 0) == 1 && sinc_derivative(1, 0) == 0 && sinc_derivative(3, 0) == 0);
static_assert(sinc_derivative(1, 1) == -1 && sinc_derivative(0, 2) == 0);

TEST_CASE("derivatives of sinc agree with values of 20 digits") {
  struct Row {
    int n;
    double x, value;
  };
  constexpr Row rows[] = {
      {0, 0.0, 1.0000000000000000000},
      {0, 1e-09, 0.99999999999999999836},
      {0, 0.1, 0.98363164308346596554},
      {0, 0.5, 0.63661977236758134308},
      {0, 0.95, 0.052415407118082226210},
      {0, 0.9549, 0.047072212013906830767},
      {0, 0.956, 0.045878673373492274755},
      {0, 1.0, 0},
      {0, 1.5, -0.21220659078919378103},
      {0, -2.25, 0.10003514623967845217},
      {0, 7.0, 0},
      {0, 33.75, -0.0066690097493118968115},
      {0, -100.5, 0.0031672625490924444929},
      {1, 0.0, 0},
      {1, 1e-09, -3.2898681336964530746e-9},
      {1, 0.1, -0.32575126788312397004},
      {1, 0.5, -1.2732395447351626862},
      {1, 0.95, -1.0948460502244420834},
      {1, 0.9549, -1.0860315796920829642},
      {1, 0.956, -1.0840377605336229286},
      {1, 1.0, -1.0000000000000000000},
      {1, 1.5, 0.14147106052612918735},
      {1, -2.25, -0.26980961553194180988},
      {1, 7.0, -0.14285714285714285714},
      {1, 33.75, 0.021148912324025464332},
      {1, -100.5, 0.000031515050239725815850},
      {2, 0.0, -3.2898681336964528729},
      {2, 1e-09, -3.2898681336964528632},
      {2, 0.1, -3.1930298359648538298},
      {2, 0.5, -1.1902271282389357323},
      {2, 0.95, 1.7876197203265738694},
      {2, 0.9549, 1.8100657575898543131},
      {2, 0.956, 1.8150570670673477850},
      {2, 1.0, 2.0000000000000000000},
      {2, 1.5, 1.9057670216916899092},
      {2, -2.25, -1.2271380889524741081},
      {2, 7.0, 0.040816326530612244898},
      {2, 33.75, 0.064567219094255768736},
      {2, -100.5, -0.031259001228749390914},
      {3, 0.0, 0},
      {3, 1e-09, 1.9481818206800488638e-8},
      {3, 0.1, 1.9253792898320052495},
      {3, 0.5, 7.1413627694336143939},
      {3, 0.95, 4.6160358234344159040},
      {3, 0.9549, 4.5455096996280454490},
      {3, 0.956, 4.5295933524716174555},
      {3, 1.0, 3.8696044010893586188},
      {3, 1.5, -3.8115340433833798183},
      {3, -2.25, 1.4655333034584254266},
      {3, 7.0, 1.3924507744996459834},
      {3, 33.75, -0.21252046983471546194},
      {3, -100.5, -0.00093310451429102659444},
      {4, 0.0, 19.481818206800487447},
      {4, 1e-09, 19.481818206800487379},
      {4, 0.1, 18.799492671762524336},
      {4, 0.5, 4.8816512051307251995},
      {4, 0.95, -14.330203145647970648},
      {4, 0.9549, -14.455516495708184350},
      {4, 0.956, -14.483273570146066809},
      {4, 1.0, -15.478417604357434475},
      {4, 1.5, -10.506760337844200601},
      {4, -2.25, 12.349725206142230143},
      {4, 7.0, -0.79568615685694056197},
      {4, 33.75, -0.62443456653770234865},
      {4, -100.5, 0.30848302748500155293},
  };
  for (const auto& [n, x, value] : rows) {
    CAPTURE(n);
    CAPTURE(x);
    CHECK(std::abs(sinc_derivative(n, x) - value) <= 2e-15 * std::pow(3.14159265358979323846, n));
    const double sign = n % 2 == 0 ? 1 : -1;
    CHECK(sinc_derivative(n, -x) == sign * sinc_derivative(n, x));
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (int n = 0; n < 5; ++n) {
    CHECK(sinc_derivative(n, infinity) == 0);
    CHECK(sinc_derivative(n, -infinity) == 0);
    CHECK(std::abs(sinc_derivative(n, 1e300)) < 1e-297);
    CHECK(std::isnan(sinc_derivative(n, std::numeric_limits<double>::quiet_NaN())));
  }
}

TEST_CASE("lanes, duals and plain numbers have the same derivatives of sinc") {
  using strop::number::Dual;
  using strop::number::Num;
  using R = strop::number::Rep<strop::number::Vec<float>>;
  float t[R::lanes];
  for (int i = 0; i < R::lanes; ++i) t[i] = 0.3F * static_cast<float>(i) - 1;
  const auto y = sinc(Dual(Num<strop::number::Vec<float>>::of(R::load(t)), Num<strop::number::Vec<float>>(1)));
  float slopes[R::lanes];
  R::store(slopes, y.d.v);
  for (int i = 0; i < R::lanes; ++i) {
    const auto x = static_cast<double>(t[i]);
    CHECK(slopes[i] == static_cast<float>(sinc_derivative(1, x)));
    CHECK(sinc(Dual(Num<double>(x), Num<double>(1))).d.v == sinc_derivative(1, x));
  }
}
