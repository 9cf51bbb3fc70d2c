import { getMetadataStorage } from 'class-validator';
import { cacheValidationMetadata } from '../../../src/platform/http/input-docs.js';

// An application starts with this call, and a process may start many: a cache around the last one would keep all of them.
test('applications of a process share one cache of validation rules', () => {
  cacheValidationMetadata();
  const before = { ...getMetadataStorage() };
  cacheValidationMetadata();
  expect({ ...getMetadataStorage() }).toEqual(before);
});
