// The one script of the shell. Pages work without it: each block improves the
// elements that its attribute marks. Comments are removed when it is served.
(() => {
	const doc = document, id = s => doc.getElementById(s);
	const all = (s, f, e = doc) => e.querySelectorAll(s).forEach(f), one = (e, s) => e.querySelector(s);
	const on = (e, type, f) => e.addEventListener(type, f);
	const say = s => setTimeout(() => id('live').textContent = s, 99);
	// The element that a button is for; without the script there is no button.
	const aim = (b, name) => {
		b.hidden = false;
		return id(b.dataset[name]);
	};

	// Copy the text of an element or an input, or select it where there is no clipboard.
	all('[data-copy]', b => {
		const e = aim(b, 'copy'), word = b.firstChild;
		on(b, 'click', async () => {
			try {
				await navigator.clipboard.writeText(e.value ?? e.textContent);
				say(word.data = 'Copied');
				setTimeout(() => word.data = 'Copy', 2e3);
			} catch {
				e.select ? e.select() : getSelection().selectAllChildren(e);
				say('Selected');
			}
		});
	});

	all('[data-reveal]', b => {
		const e = aim(b, 'reveal');
		on(b, 'click', () => {
			const show = e.type === 'password';
			e.type = show ? 'text' : 'password';
			b.firstChild.textContent = show ? 'Hide' : 'Show';
		});
	});

	// One submission of each form that changes something.
	const kept = 'draft:' + location.pathname, store = sessionStorage;
	let dirty;
	on(doc, 'submit', e => {
		const f = e.target;
		if (f.method !== 'post') return;
		if (f.sent) return e.preventDefault();
		f.sent = true;
		if ('draft' in f.dataset) {
			dirty = false;
			store.removeItem(kept);
		}
		all('button', b => b.ariaDisabled = true, f);
	});
	onpageshow = () => all('form', f => {
		f.sent = false;
		all('button', b => b.ariaDisabled = null, f);
	});

	// Times: in the zone of the device if the user has none, and relative ones
	// kept up to date. The words are those of Clock.At.
	const ago = ms => {
		const m = Math.abs(ms) / 6e4 | 0;
		if (!m) return 'just now';
		const [n, unit] = m < 60 ? [m, 'min'] : m < 1440 ? [m / 60 | 0, 'hour'] : [m / 1440 | 0, 'day'];
		const text = `${n} ${unit}${n > 1 && m > 59 ? 's' : ''}`;
		return m < 10080 && (ms < 0 ? 'in ' + text : text + ' ago');
	};
	const times = () => all('time[title], time[data-exact]', e => {
		const at = new Date(e.dateTime), exact = 'exact' in e.dataset;
		if (one(doc, '[data-zone=""]')) {
			e.title = at.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short' });
			if (exact) e.textContent = e.title;
		}
		const text = !exact && 'ago' in e.dataset && ago(Date.now() - at);
		if (text) e.textContent = text;
	});
	times();
	setInterval(times, 6e4);

	// Lists of inputs: the empty ones appear one by one.
	all('[data-rows]', r => {
		const more = one(r, 'details'), add = one(r, '[data-add]');
		if (!more) return;
		const spare = [];
		all('.field', f => (f.hidden = !one(f, 'input').value) && spare.push(f), more);
		more.open = more.firstChild.hidden = true;
		add.hidden = !spare[0];
		on(add, 'click', () => {
			const f = spare.shift();
			f.hidden = false;
			one(f, 'input').focus();
			add.hidden = !spare[0];
		});
	});

	// Filter the rows of the page's table.
	all('[data-filter]', f => {
		const table = aim(f, 'filter');
		on(f, 'input', e => all('tbody tr', r => {
			r.hidden = !r.textContent.toLowerCase().includes(e.target.value.toLowerCase());
		}, table));
	});

	all('[data-mirror]', e => {
		const to = id(e.dataset.mirror), was = to.textContent;
		on(e, 'input', () => to.textContent = e.value.trim() || was);
	});

	// Drafts: the text of a long form, kept for this session only.
	const session = doc.body.dataset.key;
	for (const k in store) {
		if (/^draft:/.test(k) && JSON.parse(store[k])[0] !== session) store.removeItem(k);
	}
	all('[data-draft]', f => {
		const fields = [...f].filter(e => e.name && !/^(hidden|password|file|submit)$/.test(e.type) && !('secret' in e.dataset));
		// A checkbox or a radio button; no other type ends so.
		const prop = e => /[xo]$/.test(e.type) ? 'checked' : 'value';
		const values = () => fields.map(e => e[prop(e)]);
		const old = JSON.parse(store[kept] || '[]')[1], offer = one(f, '[data-restore]');
		if (old?.length === fields.length && old + '' !== values() + '') {
			offer.hidden = false;
			on(one(offer, 'button'), 'click', () => {
				fields.forEach((e, n) => e[prop(e)] = old[n]);
				offer.hidden = dirty = true;
				fields[0].focus();
			});
		}
		on(f, 'input', () => {
			dirty = true;
			if (session) store[kept] = JSON.stringify([session, values()]);
		});
	});
	// Any value that it returned would make the browser ask.
	onbeforeunload = e => { if (dirty) e.preventDefault(); };

	// Screen readers read what appears later; the notice was there before.
	all('.notice', e => say(e.textContent));

	const open = f => all('.drop[open],.confirm[open]', f);
	const close = d => {
		if (one(d, ':focus')) d.firstChild.focus();
		d.open = false;
	};
	on(doc, 'click', e => {
		if (e.target.matches('.confirm a')) {
			e.preventDefault();
			open(close);
		} else open(d => d.contains(e.target) || close(d));
	});
	on(doc, 'keydown', e => e.key === 'Escape' && open(close));
})();
