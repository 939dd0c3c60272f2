// Prepares the page for a walk with Tab, and returns the number of steps. Afterwards
// window.stops() returns the faults. The file is one expression, which the tests evaluate.
(() => {
	const faults = [];
	const name = e => e.outerHTML.slice(0, 200);
	// Start at the top, regardless of the initial focus.
	document.body.tabIndex = -1;
	document.body.focus({ preventScroll: true });
	document.body.removeAttribute('tabindex');
	const all = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]:not([tabindex="-1"])')]
		.filter(e => !e.disabled && !e.closest('[inert]') && e.checkVisibility({ visibilityProperty: true }));
	for (const e of document.querySelectorAll('[tabindex]')) {
		if (e.tabIndex > 0) faults.push(`an order of its own: ${name(e)}`);
	}
	// Tab reaches one of several radio buttons; the arrow keys reach the others.
	const stops = all.filter(e => {
		if (e.type !== 'radio') return true;
		const group = all.filter(r => r.type === 'radio' && r.name === e.name && r.form === e.form);
		return e === (group.find(r => r.checked) ?? group[0]);
	});
	const look = e => {
		const s = getComputedStyle(e);
		return { outline: `${s.outlineStyle} ${s.outlineWidth} ${s.outlineColor}`, width: s.outlineStyle === 'none' ? 0 : parseFloat(s.outlineWidth), colour: s.outlineColor, shadow: s.boxShadow };
	};
	const resting = new Map(stops.map(e => [e, look(e)]));
	const met = [];
	const measure = () => {
		const e = document.activeElement;
		if (e === document.body || met.at(-1) !== e) return;
		const r = e.getBoundingClientRect();
		if (r.width < 1 || r.height < 1 || r.bottom <= 0 || r.top >= innerHeight || r.right <= 0 || r.left >= innerWidth) faults.push(`in focus out of sight: ${name(e)}`);
	};
	addEventListener('keydown', measure, true);
	addEventListener('focusin', ({ target: e }) => {
		met.push(e);
		const before = resting.get(e), now = look(e);
		if (!before) return;
		const ring = now.width >= 2 && now.outline !== before.outline && !/, 0\)$/.test(now.colour);
		if (!ring && now.shadow === before.shadow) faults.push(`no sign of focus: ${name(e)}`);
	}, true);
	window.stops = () => {
		measure();
		for (let i = 0; i < Math.max(met.length, stops.length); i++) {
			if (met[i] === stops[i]) continue;
			if (i === stops.length && met[i] === stops[0]) break; // after the end a browser focuses its own controls, or starts again
			faults.push(`stop ${i + 1} is ${met[i] ? name(met[i]) : 'none'} and not ${stops[i] ? name(stops[i]) : 'the end'}`);
			break;
		}
		return faults;
	};
	// Tab walks through the parts of a time, up to seven with the button of its calendar.
	return stops.length + 6 * stops.filter(e => e.type === 'datetime-local').length;
})()
