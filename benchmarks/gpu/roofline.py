"""Prints what bounds a coalition of the paper's FNO on a GPU, as the section of reports/gpu.md: operations of the peer and of the kernel, activations, bytes, and what
share of the device's rates the kernel must reach for three and for six times the peer's float32. Nothing is measured here."""

WIDTH, HIDDEN, WIDE, LAYERS, MODES = 64, 32, 128, 4, 16
# Coalitions per second of eager neuraloperator in float32 on an H200, and MFLOP of its plain forward pass: both from the tables of reports/gpu.md.
PEER = {(1, 64): (7.05e5, 12.93), (1, 256): (1.852e5, 49.48), (1, 1024): (4.885e4, 199.6), (2, 8): (2.149e5, 40.57), (2, 16): (6.779e4, 108.3), (2, 32): (1.923e4, 386.9)}
# NVIDIA H100 SXM, data sheet of 2023, dense: operations per second in float32 without and TF32 and BF16 with tensor cores, and bytes per second of its memory.
FLOAT32, TF32, BF16, MEMORY = 67e12, 494.7e12, 989.4e12, 3.35e12
SPLIT = 3  # products of tensor cores for one of tf32x3


def counts(dimension, n):
    """Of one coalition by the kernel: operations of tensor cores, other operations, activations, bytes of a state."""
    points, lines, along = (2 * n) ** dimension, (2 * n) ** (dimension - 1), 2 * n
    columns = min(MODES // 2, along // 2) + 1
    rows = 1 if dimension == 1 else min(MODES, along)
    transform = 2 * lines * along * 2 * columns * WIDTH + (0 if dimension == 1 else 2 * 2 * rows * 2 * lines * columns * WIDTH)
    lifted = 2 * n ** (dimension - 1) * n * 2 * columns * WIDTH + (0 if dimension == 1 else 2 * 2 * rows * 2 * n ** (dimension - 1) * columns * WIDTH)
    middle = LAYERS - 1
    products = lifted + (2 * middle) * transform + (middle - 1) * 2 * points * WIDTH**2 + middle * 4 * points * WIDTH * HIDDEN
    others = middle * 8 * rows * columns * WIDTH**2 + 2 * (2 * rows * columns + 1) * WIDTH * HIDDEN + 2 * (HIDDEN + WIDTH) * WIDE
    activations = middle * points * (2 * WIDTH + HIDDEN)
    return products, others, activations, 4 * points * WIDTH


def main():
    print("## What bounds it\n")
    print("This is arithmetic, and no measurement: `benchmarks/gpu/roofline.py`. A coalition by the kernel has products for the tensor cores and sums in float32 for the mixing and the head.")
    print("The device's rates are those of an H100's data sheet: 67 TFLOP/s in float32, 495 in TF32, 989 in BF16, 3.35 TB/s. With tf32x3 each product counts three times.")
    print("*bound* is the time of both kinds of operations one after the other. The peer is eager neuraloperator in float32 on the H200, from the table above. A peer that is compiled or")
    print("captured as a graph may be faster, so the shares are for three and six times its eager form.\n")
    print("| game | peer, MFLOP | kernel, MFLOP in products | in sums | activations, 10⁶ | state, KiB | bound tf32x3, coalitions/s | bound tf32 | bound bf16 | share of the tf32x3 bound for 3 × | for 6 × |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for (dimension, n), (rate, plain) in PEER.items():
        products, others, activations, state = counts(dimension, n)
        bounds = [1 / (products * times / speed + others / FLOAT32) for times, speed in ((SPLIT, TF32), (1, TF32), (1, BF16))]
        name = f"FNO1D, n = {n}" if dimension == 1 else f"FNO2D, {n} x {n}"
        print(f"| {name} | {plain:.4g} | {1e-6 * products:.4g} | {1e-6 * others:.3g} | {1e-6 * activations:.3g} | {state / 1024:.0f} | {bounds[0]:.3g} | {bounds[1]:.3g} | {bounds[2]:.3g} "
              f"| {100 * 3 * rate / bounds[0]:.0f} % | {100 * 6 * rate / bounds[0]:.0f} % |")
    print("\nA state of 128 KiB and less stays in shared memory from layer to layer, so device memory is read for the masks alone. That of n = 1024 (512 KiB) and of 32 x 32 (1 MiB) goes through the")
    print("second-level cache four times a layer: one block on each of 132 processors has 66 to 132 MiB of them, against 50 MiB of cache. Of one dimension the mixing's weights are 0.9 MB a group of coalitions,")
    print("which come from that cache; of two they are 14 MB, and there they are the bound: a group has one coalition, so if that cache gives\n5 TB/s, which was not measured, 8 x 8 cannot pass 3.5e+05 coalitions/s, 1.6 times the eager peer. In a plane the mixing has to leave the kernel for a product over many coalitions.")


if __name__ == "__main__":
    main()
