# SPDX-License-Identifier: Apache-2.0
"""The report of a question of many cases: the worst first, and the geometric means of families. A ratio is the time of the
fastest peer over ours."""
import math

OURS = ("strop", "package")


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def shown(number, wide, unit="x"):
    """A number of two places, or a dash where there is none."""
    return f"{'-':>{wide}}" if math.isnan(number) else f"{number:{wide - len(unit)}.{0 if unit == '%' else 2 if unit else 3}f}{unit}"


def fastest(times):
    """(time, name) of the fastest peer."""
    return min(((t, who) for who, t in times.items() if who not in OURS and t > 0), default=None)


class Ranking:
    """Of {case: {who: nanoseconds}} the best times, their medians, and of {case: (bytes, operations)} the bounds."""

    def __init__(self, best, medians, bounds):
        self.best, self.medians, self.bounds = best, medians, bounds
        self.ratios = {case: fastest(times)[0] / times["strop"] for case, times in best.items() if fastest(times)}
        self.order = sorted(self.ratios, key=self.ratios.get)

    def median_ratio(self, case):
        times = self.medians.get(case, {})
        return fastest(times)[0] / times["strop"] if "strop" in times and fastest(times) else math.nan

    def package_ratio(self, case):
        times = self.best[case]
        return fastest(times)[0] / times["package"] if "package" in times else math.nan

    def families(self, family_of):
        """Lines: of each family, how many cases, the means of their ratios, and how many are slower than a peer."""
        groups = {}
        for case in self.ratios:
            groups.setdefault(family_of(case), []).append(case)
        yield f"{'geometric means':44} {'cases':>6} {'x':>7} {'medians':>8} {'Python':>7} {'x < 1':>6}"
        in_all = sorted(groups, key=lambda name: mean([self.ratios[case] for case in groups[name]]))
        for name, cases in (("all", list(self.ratios)), *((name, groups[name]) for name in in_all)):
            of_medians, of_package = ([r for r in map(ratio, cases) if not math.isnan(r)] for ratio in (self.median_ratio, self.package_ratio))
            slower = sum(self.ratios[case] < 1 for case in cases)
            of_best = [self.ratios[case] for case in cases]
            yield f"{name:44} {len(cases):6} {shown(mean(of_best), 7)} {shown(mean(of_medians), 8)} {shown(mean(of_package), 7)} {slower:6}"

    def table(self, peers):
        """Lines: every case, the worst first."""
        wide = max([44, *map(len, self.order)])
        yield f"{'':{wide}} {'strop':>11} {'package':>11} {'bound':>11} {'of it':>6} {'x':>7} {'medians':>8} {'Python':>7}" + "".join(f" {who:>11}" for who in peers)
        for case in self.order:
            times, bound = self.best[case], max(self.bounds.get(case, (math.nan,)))
            told = [shown(times.get(who, math.nan) / 1e3, 11, "") for who in (*OURS, *peers)]
            ratios = f"{shown(self.ratios[case], 7)} {shown(self.median_ratio(case), 8)} {shown(self.package_ratio(case), 7)}"
            yield " ".join((f"{case:{wide}}", *told[:2], shown(bound / 1e3, 11, ""), shown(100 * bound / times["strop"], 6, "%"), ratios, *told[2:]))
