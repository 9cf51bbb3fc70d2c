import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { useJestGlobals } from './jest-globals.mjs';

/**
 * A test environment whose global object is that of the process. Files of one worker share the modules that they import, so
 * that Nest, TypeORM and the application are loaded and compiled once per worker instead of once per file.
 */
export default class SharedEnvironment {
  global = globalThis;
  fakeTimers = null;
  moduleMocker = new ModuleMocker(globalThis);
  #exit = Object.getOwnPropertyDescriptor(process, 'exit');
  #console = globalThis.console;

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    useJestGlobals(this);
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    // Jest replaces both for each file.
    Object.defineProperty(process, 'exit', this.#exit);
    globalThis.console = this.#console;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Jest calls it for coverage only. */
  getVmContext() {
    return null;
  }
}
