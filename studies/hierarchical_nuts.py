"""Compare the posterior of `hierarchical_bayes` with that of NUTS on the same model.

    pip install numpyro
    python studies/hierarchical_nuts.py [DRAWS]

NUTS samples all parameters of the model (the standard deviations of the data sets and the
parameters of the prior of nu, too) in another parameterisation. Print both posteriors of tables of
20 and 50 data sets with 10 x 10 folds.
"""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS
from scipy import stats

from bestofk.stats.pairwise import hierarchical_bayes

ROPE = 0.01


def model(d: np.ndarray, rho: float) -> None:
    """The model of Corani et al. 2017, with delta = mu + tau z and sigma below 1000."""
    q, n = d.shape
    mean, variance = d.mean(axis=1), d.var(axis=1, ddof=1)
    largest = np.abs(d).max()
    mu = numpyro.sample("mu", dist.Uniform(-largest, largest))
    tau = numpyro.sample("tau", dist.Uniform(0, 1000 * mean.std()))
    alpha = numpyro.sample("alpha", dist.Uniform(0.5, 5))
    beta = numpyro.sample("beta", dist.Uniform(0.05, 0.15))
    nu = numpyro.deterministic("nu", 1 + numpyro.sample("x", dist.Gamma(alpha, beta)))
    z = numpyro.sample("z", dist.StudentT(nu, 0, 1).expand([q]))
    sigma = numpyro.sample("sigma", dist.Uniform(0, 1000).expand([q]))
    gaps = jnp.square(mean - mu - tau * z) * n / (1 + (n - 1) * rho)
    squares = (n - 1) * variance / (1 - rho) + gaps
    numpyro.factor("likelihood", -n * jnp.log(sigma).sum() - (squares / sigma**2).sum() / 2)


def nuts(d: np.ndarray, draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how often left, rope and right are the most probable, and their probabilities."""
    flat = d.reshape(len(d), -1)
    unit = flat.std(axis=1).mean()
    chains = MCMC(
        NUTS(model, target_accept_prob=0.95), num_warmup=1500, num_samples=draws, num_chains=4,
        chain_method="sequential", progress_bar=False,
    )  # fmt: skip
    chains.run(jax.random.PRNGKey(0), flat / unit, 1 / d.shape[2])
    chains.print_summary(exclude_deterministic=False)
    mu, tau, nu = (np.asarray(chains.get_samples()[name]) for name in ("mu", "tau", "nu"))
    below, above = (stats.t.cdf((-ROPE / unit + s * mu) / tau, nu) for s in (-1, 1))
    masses = np.array([below, 1 - below - above, above])
    return np.bincount(masses.argmax(axis=0), minlength=3) / mu.size, masses.mean(axis=1)


if __name__ == "__main__":
    numpyro.enable_x64()
    for q in (20, 50):
        rng = np.random.default_rng(q)
        d = rng.normal(0.008, 0.02, (q, 1, 1)) + rng.normal(0, 0.03, (q, 10, 10))
        wins, masses = nuts(d, int(sys.argv[1]) if len(sys.argv) > 1 else 8000)
        ours = hierarchical_bayes(d, 0 * d, rope=ROPE, samples=64_000)
        print(f"{q} data sets: left, rope, right; the same on the next data set")
        print("NUTS   ", np.round(wins, 4), np.round(masses, 4))
        print("bestofk", np.round(ours.probabilities, 4), np.round(ours.next_dataset, 4))
