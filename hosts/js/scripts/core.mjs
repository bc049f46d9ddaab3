// The core module of a component, which src/engine/abi.ts calls. It is the first module in the component's binary
// format; the others only bring it its imports.

const CORE_MODULE_SECTION = 1;

/** The bytes of the first core module of a component. */
export function coreOf(component) {
  for (let at = 8; at < component.length; ) {
    const id = component[at++];
    let [size, shift] = [0, 0];
    for (let more = true; more; shift += 7) {
      const byte = component[at++];
      size |= (byte & 0x7f) << shift;
      more = byte >= 0x80;
    }
    if (id === CORE_MODULE_SECTION) return component.subarray(at, at + size);
    at += size;
  }
  throw new Error('no component: it has no core module');
}
