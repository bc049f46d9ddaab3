/** The Worker of the engine: a file of its own on a server, and a part of the page on a disk (vite.config.ts). */
declare module 'engine-worker' {
  const EngineWorker: new () => Worker;
  export default EngineWorker;
}
