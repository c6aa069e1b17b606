/**
 * Tests that stop, kill or reconfigure a part of the cluster, or need a hook server with more settings, on one control
 * plane (cluster.ts), one after the other. After `receiver` the hook server takes no calls from outside any more. The
 * last ones leave the cluster as no other test could use it. One part: `-t certificate`.
 */
import { describe } from 'vitest';
import { certificate } from './certificate.ts';
import { crashes } from './crashes.ts';
import { freeze } from './freeze.ts';
import { notifications } from './notifications.ts';
import { receiver } from './receiver.ts';

describe('receiver', receiver);
describe('crashes', crashes);
describe('freeze', freeze);
describe('notifications', notifications);
describe('certificate', certificate);
