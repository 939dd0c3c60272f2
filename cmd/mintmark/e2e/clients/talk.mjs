// What the scripts say to the test that runs them: one JSON value a line. The
// test plays the person.
import { createInterface } from 'node:readline'

export const args = JSON.parse(process.argv[2])

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

const say = (value) => process.stdout.write(JSON.stringify(value) + '\n')

// visit has the person decide ("allow" or "cancel") at an authorization URL.
// It returns where the browser was sent.
export async function visit(url, decision = 'allow') {
  say({ visit: String(url), decision })
  const { value } = await lines.next()
  return new URL(value)
}

// refusal is what a promise was rejected with, and an error when it was not.
export async function refusal(promise) {
  try {
    await promise
  } catch (err) {
    const challenge = Array.isArray(err.cause) ? err.cause[0] : undefined
    return {
      kind: err.constructor.name,
      code: err.code,
      error: err.error ?? challenge?.parameters?.error,
      status: err.status,
      scheme: challenge?.scheme,
      message: [err.message, err.cause?.message].join(' '),
    }
  }
  throw new Error('this was not refused')
}

// run ends the script with its result.
export async function run(story) {
  say({ result: await story() })
  process.exit(0)
}
