"""The Shapley kernel where binomials leave the range of doubles."""

import mpmath

from fixture import require

about = ("For n players and size s, by mpmath with 50 digits: log C(n, s), log of the semivalue weight p_s = s!(n-1-s)!/n!, log of the kernel W_s = 1/(C(n,s)s(n-s)), and "
         "the probability of size s under the law ∝ 1/(s(n-s)). C(1029, 514) is the last central binomial that fits a double.")
packages = ["mpmath"]


def cases():
    mpmath.mp.dps = 50
    require(mpmath.binomial(1029, 514) < mpmath.mpf(2) ** 1024 < mpmath.binomial(1030, 515), "large_n: largest binomial")
    for players in (2, 3, 16, 1024, 1029, 1030, 2048, 4096):
        harmonic = mpmath.fsum(mpmath.mpf(1) / j for j in range(1, players))
        require(abs(harmonic - (mpmath.digamma(players) + mpmath.euler)) < mpmath.mpf(10) ** -45, "large_n: harmonic number")
        for size in sorted({1, 2, 3, players // 4, players // 2, players - 1} & set(range(1, players))):
            binomial = mpmath.log(mpmath.binomial(players, size))
            again = mpmath.loggamma(players + 1) - mpmath.loggamma(size + 1) - mpmath.loggamma(players - size + 1)
            require(abs(binomial - again) < mpmath.mpf(10) ** -40, "large_n: log binomial")
            yield {"players": players, "size": size, "log_binomial": float(binomial),
                   "log_semivalue": float(-mpmath.log(players - size) - binomial),
                   "log_kernel": float(-binomial - mpmath.log(size) - mpmath.log(players - size)),
                   "probability": float(players / (2 * harmonic * size * (players - size)))}
