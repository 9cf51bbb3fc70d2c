import base from '../../jest.config.js';

/** The tests that need OpenStack Swift, which `.ci/ensure-swift` installs: `npm run test:s3`. */
export default { ...base, rootDir: '../..', testMatch: ['<rootDir>/test/s3/**/*.s3-spec.ts'] };
