# SPDX-License-Identifier: MIT
"""JAX: a jitted gradient step. jax_jit.py [steps]"""
import sys

import jax
import jax.numpy as jnp


def loss(w, x):
    return jnp.mean(jnp.tanh(x @ w) ** 2)


@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(loss)(w, x)


def main():
    if jax.default_backend() != "gpu":
        raise SystemExit("JAX does not see the GPU")
    w = jnp.sin(jnp.arange(256 * 128, dtype=jnp.float32)).reshape(256, 128)
    x = jnp.cos(jnp.arange(64 * 256, dtype=jnp.float32)).reshape(64, 256)
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
        w = step(w, x)
    print("jax: %.2g" % float(jnp.abs(w).sum()))


main()
