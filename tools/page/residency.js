
/* How much of a multiprocessor a launch can fill by its registers, shared memory and blocks: an upper bound from the
   rules of each compute capability, nothing that was measured. */
const residency = (() => {
  'use strict';
  const REGISTERS = 65536, REGISTER_UNIT = 256, WARPS_UNIT = 4, WARP = 32, KB = 1024;

  /* Per multiprocessor, by compute capability: warps, blocks, KB of shared memory. */
  const LIMITS = {
    '7.0': [64, 32, 96], '7.2': [64, 32, 96], '7.5': [32, 16, 64], '8.0': [64, 32, 164], '8.6': [48, 16, 100],
    '8.7': [48, 16, 164], '8.9': [48, 24, 100], '9.0': [64, 32, 228], '10.0': [64, 32, 228], '10.3': [64, 32, 228],
    '12.0': [48, 24, 100], '12.1': [48, 24, 100],
  };

  const upTo = (x, unit) => Math.ceil(x / unit) * unit;

  /* Shared memory of a block as it is handed out; from 8.0 on the driver keeps 1 KB of each block. */
  const sharedOf = (compute, bytes) => (Number(compute) >= 8 ? upTo(bytes + KB, 128) : upTo(bytes, 256));

  const registersOf = (registers, warps) => {
    const perWarp = upTo(registers * WARP, REGISTER_UNIT);
    return Math.floor(Math.floor(REGISTERS / perWarp / WARPS_UNIT) * WARPS_UNIT / warps);
  };

  /* shape: grid, block, dynamic shared memory, as in the profile. null: it cannot be told. */
  const of = (device, { registers, static_shared: fixed }, shape) => {
    const limits = LIMITS[device?.compute];
    const warps = Math.ceil(shape[3] * shape[4] * shape[5] / WARP), grid = shape[0] * shape[1] * shape[2];
    if (!limits || !warps || !grid || !registers)
      return null;
    const shared = sharedOf(device.compute, (fixed || 0) + shape[6]);
    const by = [['warps', Math.floor(limits[0] / warps)], ['registers', registersOf(registers, warps)],
      ['shared memory', shared ? Math.floor(limits[2] * KB / shared) : Infinity], ['blocks', limits[1]]];
    const [limit, blocks] = by.reduce((least, next) => (next[1] < least[1] ? next : least));
    if (!blocks)
      return null;
    return { blocks, limit, occupancy: 100 * blocks * warps / limits[0], waves: grid / (blocks * device.sm_count) };
  };

  /* The device of all rows, where they are of one kind. */
  const deviceOf = (devices) => (devices.every((d) => d.compute === devices[0].compute && d.sm_count === devices[0].sm_count)
    ? devices[0] : null);

  const waves = (x) => (x < 0.01 ? '< 0.01' : x < 10 ? x.toFixed(2) : units.count(Math.round(x)));

  return { of, deviceOf, waves };
})();
