import base from '../../jest.config.js';

/** Expensive requests of one workspace beside the ordinary ones of another: `npm run test:fairness`. */
export default { ...base, rootDir: '../..', testMatch: ['<rootDir>/test/fairness/*.fairness.ts'] };
