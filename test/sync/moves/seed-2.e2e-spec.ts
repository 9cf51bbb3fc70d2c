import { synchroniseWhileMoving } from './moves.ts';

describe('synchronisation at random, of a workspace that moves', () => synchroniseWhileMoving('2'));
