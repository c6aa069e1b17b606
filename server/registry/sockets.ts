/**
 * Connections to registries. Tenants choose the names, and registries the redirects: none may lead to this machine, the
 * node's link-local network or a cloud's metadata service. Private networks are allowed, because registries in a
 * cluster are there.
 */
import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { RegistryError } from './error.ts';

const LOCAL = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['224.0.0.0', 3],
  // Metadata services of Azure and Alibaba Cloud.
  ['168.63.129.16', 32],
  ['100.100.100.200', 32],
] as const) {
  LOCAL.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 96],
  ['fe80::', 10],
  ['ff00::', 8],
  // The services of AWS on an instance (metadata, credentials of Pods, DNS, time), and Google Cloud's metadata service.
  ['fd00:ec2::', 32],
  ['fd20:ce::254', 128],
  // The metadata services of Oracle, Scaleway, Akamai and Alibaba Cloud.
  ['fd00:c1::a9fe:a9fe', 128],
  ['fd00:42::42', 128],
  ['fd00:a9fe:a9fe::1', 128],
  ['fd00:100::100:200', 128],
  // 0/8, 127/8 and 169.254/16 behind NAT64.
  ['64:ff9b::', 104],
  ['64:ff9b::7f00:0', 104],
  ['64:ff9b::a9fe:0', 112],
  // The metadata services of Azure and Alibaba Cloud behind NAT64.
  ['64:ff9b::a83f:8110', 128],
  ['64:ff9b::6464:64c8', 128],
] as const) {
  LOCAL.addSubnet(network, prefix, 'ipv6');
}

/** Whether connections to the address are forbidden. An IPv4 address in IPv6 form counts as the IPv4 address. */
export function isLocalAddress(address: string): boolean {
  return LOCAL.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

export interface RegistrySockets {
  /** The dispatcher for requests without certificates or timeouts of their own. */
  shared: Dispatcher;
  /** Creates a dispatcher, which the caller must close. */
  agent(options: Omit<Agent.Options, 'connect'>, connect: buildConnector.BuildOptions): Agent;
}

type Resolve = (
  hostname: string,
  options: { all: true },
  done: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

interface SocketOptions {
  /** Whether connections to this machine are allowed too. */
  allowLocal: boolean;
  resolve?: Resolve;
}

export function registrySockets({ allowLocal, resolve = dnsLookup }: SocketOptions): RegistrySockets {
  const agent: RegistrySockets['agent'] = (options, connect) =>
    new Agent({ ...options, connect: allowLocal ? connect : guarded(connect, resolve) });
  return { shared: agent({}, {}), agent };
}

/**
 * A connector that refuses local addresses. It opens every connection, including those to targets of redirects, to the
 * same address that it has checked.
 */
function guarded(options: buildConnector.BuildOptions, resolve: Resolve): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: guardedLookup(resolve) });
  return (target, done) => {
    // A literal address isn't looked up.
    if (isIP(target.hostname) && isLocalAddress(target.hostname)) done(refusal(target.hostname), null);
    else connect(target, done);
  };
}

function guardedLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return done(error ?? new Error(`${hostname} has no address`), '');
      if (addresses.some(({ address }) => isLocalAddress(address))) return done(refusal(hostname), '');
      return options.all ? done(null, addresses) : done(null, first.address, first.family);
    });
  };
}

function refusal(host: string): RegistryError {
  const where = `${host} has a loopback, link-local or metadata address, which no registry may have`;
  return new RegistryError(`${where}: to allow it, set ALLOW_LOCAL_REGISTRIES=true`, 'Denied');
}
